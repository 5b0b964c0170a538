// try_enter() turns trylock's 0 for success into true; only the owner does the addition.
//@ check: race deadlock misuse safety
#include <pthread.h>
#include <stdbool.h>

static int done;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool try_enter(pthread_mutex_t *mutex)
{
    return pthread_mutex_trylock(mutex) == 0;
}

static void *worker(void *arg)
{
    (void)arg;
    if (try_enter(&lock)) {
        done++; //~ no race: reached only with the lock
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
