// Two instances of one thread function run the same unprotected line: it races with itself.
//@ check: race deadlock misuse safety
#include <pthread.h>

#define WORKERS 2

static int hits;

static void *worker(void *arg)
{
    (void)arg;
    hits++; //~ race A: write hits
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
