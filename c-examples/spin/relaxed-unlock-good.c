// A home-made spin lock: acquire to get in, release to get out. It orders like a mutex.
//@ check: race deadlock misuse safety
#include <pthread.h>
#include <stdatomic.h>

static int total;
static atomic_int taken;

static void *worker(void *arg)
{
    (void)arg;
    while (atomic_exchange_explicit(&taken, 1, memory_order_acquire))
        ;
    total++; //~ no race: the release store is read by the next acquire
    atomic_store_explicit(&taken, 0, memory_order_release);
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return total != 2;
}
