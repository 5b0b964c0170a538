// An urgent worker skips the lock "to be fast". One thread without the lock is enough for a race.
//@ check: race deadlock misuse safety
#include <pthread.h>

static int total;
static int urgent[2] = {0, 1};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *arg)
{
    int is_urgent = *(int *)arg;
    if (!is_urgent) pthread_mutex_lock(&lock);
    total += is_urgent ? 10 : 1; //~ race A: write total
    if (!is_urgent) pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, worker, &urgent[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return total != 11;
}
