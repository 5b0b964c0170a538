// One function takes the two locks in both orders, one after the other. A single thread runs it,
// and a thread does not wait for itself: no deadlock.
//@ check: race deadlock misuse safety
#include <pthread.h>

#define WORKERS 1

static int total;
static pthread_mutex_t left = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t right = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&left);
    pthread_mutex_lock(&right); //~ no deadlock: there is one worker
    total++;
    pthread_mutex_unlock(&right);
    pthread_mutex_unlock(&left);

    pthread_mutex_lock(&right);
    pthread_mutex_lock(&left); //~ no deadlock: there is one worker
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
