// A and A again: a plain mutex does not count, and its holder waits for itself.
//@ check: race deadlock misuse safety
#include <pthread.h>

static int total;
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&a);
    pthread_mutex_lock(&a); //~ double-lock A: acquire a
    total++;
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&a);
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
