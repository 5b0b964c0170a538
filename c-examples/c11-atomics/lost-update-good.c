// One atomic read-modify-write: no addition is lost.
//@ check: race deadlock misuse safety
//@ clean
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int hits;

static void *worker(void *arg)
{
    (void)arg;
    atomic_fetch_add(&hits, 1);
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(hits == 2);
    return 0;
}
