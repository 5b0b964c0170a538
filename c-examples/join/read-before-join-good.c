// main joins the thread, then reads the result.
//@ check: race deadlock misuse safety
#include <pthread.h>

static int result;

static void *worker(void *arg)
{
    (void)arg;
    result = 42; //~ no race: over before the join returns
    pthread_exit(&result);
}

int main(void)
{
    pthread_t thread;
    void *answer = &result;
    pthread_create(&thread, NULL, worker, NULL);
    pthread_join(thread, &answer);
    int copy = *(int *)answer; //~ no race: after the join
    return copy != 42 && copy != 0;
}
