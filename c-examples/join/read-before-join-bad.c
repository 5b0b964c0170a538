// main reads the result before it has joined the thread that computes it.
//@ check: race deadlock misuse safety
#include <pthread.h>

static int result;

static void *worker(void *arg)
{
    (void)arg;
    result = 42; //~ race A: write result
    pthread_exit(&result);
}

int main(void)
{
    pthread_t thread;
    void *answer = &result;
    pthread_create(&thread, NULL, worker, NULL);
    int copy = *(int *)answer; //~ race A: read result
    pthread_join(thread, &answer);
    return copy != 42 && copy != 0;
}
