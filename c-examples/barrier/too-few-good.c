// The barrier waits for as many threads as come to it.
//@ check: race deadlock misuse safety
//@ clean
#include <pthread.h>

static int passed[2];
static int ids[2] = {0, 1};
static pthread_barrier_t barrier;

static void *worker(void *arg)
{
    int me = *(int *)arg;
    pthread_barrier_wait(&barrier);
    passed[me] = 1;
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    pthread_barrier_init(&barrier, NULL, 2);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, worker, &ids[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return passed[0] + passed[1] != 2;
}
