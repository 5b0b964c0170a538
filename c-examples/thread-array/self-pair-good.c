// One instance of the thread function: no second thread runs the line.
//@ check: race deadlock misuse safety
#include <pthread.h>

#define WORKERS 1

static int hits;

static void *worker(void *arg)
{
    (void)arg;
    hits++; //~ no race: there is one worker
    return NULL;
}

int main(void)
{
    pthread_t threads[WORKERS];
    for (int i = 0; i < WORKERS; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(threads[i], NULL);
    return hits > WORKERS;
}
