// Urgent or not, every worker takes the lock.
//@ check: race deadlock misuse safety
//@ clean
#include <pthread.h>

static int total;
static int urgent[2] = {0, 1};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *arg)
{
    int is_urgent = *(int *)arg;
    pthread_mutex_lock(&lock);
    total += is_urgent ? 10 : 1;
    pthread_mutex_unlock(&lock);
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
