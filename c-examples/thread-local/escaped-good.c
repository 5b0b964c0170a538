// The other thread uses its own thread-local variable.
//@ check: race deadlock misuse safety
#include <pthread.h>

static _Thread_local int calls;

static void *worker(void *arg)
{
    (void)arg;
    int *counter = &calls;
    *counter += 1; //~ no race: the worker's own
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, worker, &calls);
    calls += 2; //~ no race: main's own
    pthread_join(thread, NULL);
    return calls < 2;
}
