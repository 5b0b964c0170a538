// A home-made spin lock: who finds the flag set tries again. It orders like a mutex.
//@ check: race deadlock misuse safety
#include <pthread.h>
#include <stdatomic.h>

static int total;
static atomic_flag taken = ATOMIC_FLAG_INIT;

static void *worker(void *arg)
{
    (void)arg;
    while (atomic_flag_test_and_set(&taken))
        ;
    total++; //~ no race: one owner at a time
    atomic_flag_clear(&taken);
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
