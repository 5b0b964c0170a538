// An atomic counter needs no lock.
//@ check: race deadlock misuse safety
//@ clean
#include <pthread.h>
#include <stdatomic.h>

static atomic_int started;
static atomic_int hits;

static void *worker(void *arg)
{
    (void)arg;
    started++;
    hits++;
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return started + hits != 4;
}
