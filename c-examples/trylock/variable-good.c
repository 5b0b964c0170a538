// The result of trylock is kept in a variable and tested before the addition.
//@ check: race deadlock misuse safety
#include <pthread.h>

static int done;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *arg)
{
    (void)arg;
    int busy = pthread_mutex_trylock(&lock);
    if (busy)
        return NULL;
    done++; //~ no race: reached only with the lock
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
