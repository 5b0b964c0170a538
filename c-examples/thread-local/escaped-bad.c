// The address of main's thread-local variable is given to another thread: it is shared after all.
//@ check: race deadlock misuse safety
#include <pthread.h>

static _Thread_local int calls;

static void *worker(void *arg)
{
    (void)arg;
    int *counter = arg;
    *counter += 1; //~ race A: write calls
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, worker, &calls);
    calls += 2; //~ race A: write calls
    pthread_join(thread, NULL);
    return calls < 2;
}
