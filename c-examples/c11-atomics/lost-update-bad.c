// Two atomic operations are not one: both threads can load 0 before either stores 1. There is no
// data race, yet an addition is lost.
//@ check: race deadlock misuse safety
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int hits;

static void *worker(void *arg)
{
    (void)arg;
    atomic_store(&hits, atomic_load(&hits) + 1); //~ no race: both accesses are atomic
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(hits == 2); //~ assertion A: fault hits
    return 0;
}
