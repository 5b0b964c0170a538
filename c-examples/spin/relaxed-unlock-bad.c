// A home-made spin lock that is released with a relaxed store: only one thread is inside at a time,
// but what it wrote is not ordered before what the next owner does. By C11 that is a race.
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
    total++; //~ race A: write total
    atomic_store_explicit(&taken, 0, memory_order_relaxed);
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
