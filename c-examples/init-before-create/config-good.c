// main sets the option before it starts the thread: creation orders the two, no lock is needed.
//@ check: race deadlock misuse safety
#include <pthread.h>

static int verbose, seen;

static void *worker(void *arg)
{
    (void)arg;
    seen = verbose; //~ no race: written before this thread existed
    return NULL;
}

int main(void)
{
    pthread_t thread;
    verbose = 1; //~ no race: before the creation
    pthread_create(&thread, NULL, worker, NULL);
    pthread_join(thread, NULL);
    return seen > 1;
}
