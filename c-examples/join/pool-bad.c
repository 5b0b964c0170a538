// A pool keeps the handles of its threads, and their number, in an object on the heap. Who ends it forgets the last one.
//@ check: race deadlock misuse safety
#include <pthread.h>
#include <stdlib.h>

struct pool {
    int n;
    pthread_t *threads;
    int *results;
};

static void *worker(void *arg)
{
    int *result = arg;
    *result = 1; //~ race A: write
    return NULL;
}

static int start(pthread_t *handle, int *result)
{
    pthread_t thread;
    int failed = pthread_create(&thread, NULL, worker, result);
    if (failed == 0 && handle != NULL)
        *handle = thread;
    return failed;
}

static struct pool *pool_new(int n)
{
    struct pool *pool = calloc(1, sizeof *pool);
    pool->n = n;
    pool->threads = calloc(n, sizeof *pool->threads);
    pool->results = calloc(n, sizeof *pool->results);
    for (int i = 0; i < pool->n; i++)
        if (start(&pool->threads[i], &pool->results[i]) != 0)
            exit(1);
    return pool;
}

static int pool_end(struct pool *pool)
{
    int sum = 0;
    for (int i = 0; i < pool->n - 1; i++)
        pthread_join(pool->threads[i], NULL);
    for (int i = 0; i < pool->n; i++)
        sum += pool->results[i]; //~ race A: read
    return sum;
}

int main(void)
{
    return pool_end(pool_new(3)) != 3;
}
