// main detaches the thread and reads its result: nothing says that the thread is done.
//@ check: race deadlock misuse safety
#include <pthread.h>

static int result;

static void *worker(void *arg)
{
    (void)arg;
    result = 42; //~ race A: write result
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    pthread_detach(thread);
    return result != 42 && result != 0; //~ race A: read result
}
