// One function takes the two locks in both orders, one after the other. Two threads run it, so one
// can be in its first half while the other is in its second.
//@ check: race deadlock misuse safety
#include <pthread.h>

#define WORKERS 2

static int total;
static pthread_mutex_t left = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t right = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&left);
    pthread_mutex_lock(&right); //~ deadlock A: acquire right
    total++;
    pthread_mutex_unlock(&right);
    pthread_mutex_unlock(&left);

    pthread_mutex_lock(&right);
    pthread_mutex_lock(&left); //~ deadlock A: acquire left
    total++;
    pthread_mutex_unlock(&left);
    pthread_mutex_unlock(&right);
    return NULL;
}

int main(void)
{
    pthread_t threads[WORKERS];
    for (int i = 0; i < WORKERS; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(threads[i], NULL);
    return total != 2 * WORKERS;
}
