// The counter is an ordinary static variable: both threads count in the same one.
//@ check: race deadlock misuse safety
#include <pthread.h>

static int calls;

static void *worker(void *arg)
{
    (void)arg;
    calls++; //~ race A: write calls
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
