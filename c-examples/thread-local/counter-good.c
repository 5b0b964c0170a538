// The counter is thread-local: each thread counts in its own.
//@ check: race deadlock misuse safety
#include <pthread.h>

static _Thread_local int calls;

static void *worker(void *arg)
{
    (void)arg;
    calls++; //~ no race: each thread has its own
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return calls > 2;
}
