// main joins the thread and reads its result.
//@ check: race deadlock misuse safety
#include <pthread.h>

static int result;

static void *worker(void *arg)
{
    (void)arg;
    result = 42;
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    pthread_join(thread, NULL);
    return result != 42 && result != 0; //~ no race: after the join
}
