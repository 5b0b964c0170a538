// main joins one of its two threads and reads the results of both.
//@ check: race deadlock misuse safety
#include <pthread.h>

static int total[2];
static int ids[2] = {0, 1};

static void *worker(void *arg)
{
    int me = *(int *)arg;
    total[me] = me + 1; //~ race A: write total
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, worker, &ids[i]);
    for (int i = 0; i < 1; i++)
        pthread_join(threads[i], NULL);
    return total[0] + total[1] > 3; //~ race A: read total
}
