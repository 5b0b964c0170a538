// Nobody passes the barrier before both have written: each may read what the other wrote.
//@ check: race deadlock misuse safety
#include <pthread.h>

static int result[2], sum[2];
static int ids[2] = {0, 1};
static pthread_barrier_t barrier;

static void *worker(void *arg)
{
    int me = *(int *)arg;
    result[me] = me + 1;
    pthread_barrier_wait(&barrier);
    sum[me] = result[0] + result[1]; //~ no race: all writes lie before the barrier
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
    pthread_barrier_destroy(&barrier);
    return sum[0] != 3 || sum[1] != 3;
}
