// try_enter() hands on trylock's result, which is 0 on *success*; its callers take nonzero for
// success. So exactly the threads that did not get the lock do the addition.
//@ check: race
#include <pthread.h>
#include <stdbool.h>

static int done;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool try_enter(pthread_mutex_t *mutex)
{
    return pthread_mutex_trylock(mutex);
}

static void *worker(void *arg)
{
    (void)arg;
    if (try_enter(&lock)) {
        done++; //~ race A: write done
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
