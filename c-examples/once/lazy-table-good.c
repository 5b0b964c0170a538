// pthread_once fills the table in one thread; every other thread waits until it is filled.
//@ check: race deadlock misuse safety
#include <pthread.h>

static int table, sum[2];
static int ids[2] = {0, 1};
static pthread_once_t filled = PTHREAD_ONCE_INIT;

static void fill(void)
{
    table = 7; //~ no race: runs once, before any call of pthread_once returns
}

static void *worker(void *arg)
{
    int me = *(int *)arg;
    pthread_once(&filled, fill);
    sum[me] = table + me; //~ no race: after pthread_once
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, worker, &ids[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return sum[0] + sum[1] != 15;
}
