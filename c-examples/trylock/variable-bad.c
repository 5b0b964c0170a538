// The result of trylock is kept in a variable, but nobody looks at it before the addition.
// (The unlock without the lock is a second mistake, outside the check asked for here.)
//@ check: race
#include <pthread.h>

static int done;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *arg)
{
    (void)arg;
    int busy = pthread_mutex_trylock(&lock);
    (void)busy;
    done++; //~ race A: write done
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
