// A guard variable unlocks at the end of its scope. The addition is inside that scope.
//@ check: race deadlock misuse safety
#include <pthread.h>

static int hits;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void unlock_guard(pthread_mutex_t **guard)
{
    pthread_mutex_unlock(*guard);
}

static void *worker(void *arg)
{
    (void)arg;
    {
        __attribute__((cleanup(unlock_guard))) pthread_mutex_t *guard = &lock;
        pthread_mutex_lock(guard);
        hits++; //~ no race: the guard unlocks at the closing brace
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return hits != 2;
}
