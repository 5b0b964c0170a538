// A spin lock from __sync_lock_test_and_set (acquire) and __sync_lock_release (release).
//@ check: race deadlock misuse safety
#include <pthread.h>

static int taken, total;

static void *worker(void *arg)
{
    (void)arg;
    while (__sync_lock_test_and_set(&taken, 1))
        ;
    total++; //~ no race: one owner at a time
    __sync_lock_release(&taken);
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
