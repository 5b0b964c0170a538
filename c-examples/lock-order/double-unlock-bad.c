// A is given back twice.
//@ check: race deadlock misuse safety
#include <pthread.h>

static int total;
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t b = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&b);
    pthread_mutex_lock(&a);
    total++;
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&a); //~ unlock-not-held A: release a
    pthread_mutex_unlock(&b);
    return NULL;
}

int main(void)
{
    pthread_t threads[1];
    pthread_create(&threads[0], NULL, worker, NULL);
    for (int i = 0; i < 1; i++)
        pthread_join(threads[i], NULL);
    return total != 1;
}
