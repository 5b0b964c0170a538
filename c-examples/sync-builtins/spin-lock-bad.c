// A spin lock from __sync_lock_test_and_set, given back with a relaxed store: the next owner is not
// ordered after this one.
//@ check: race deadlock misuse safety
#include <pthread.h>

static int taken, total;

static void *worker(void *arg)
{
    (void)arg;
    while (__sync_lock_test_and_set(&taken, 1))
        ;
    total++; //~ race A: write total
    __atomic_store_n(&taken, 0, __ATOMIC_RELAXED);
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
