// main sets the option after it has started the thread that reads it.
//@ check: race deadlock misuse safety
#include <pthread.h>

static int verbose, seen;

static void *worker(void *arg)
{
    (void)arg;
    seen = verbose; //~ race A: read verbose
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    verbose = 1; //~ race A: write verbose
    pthread_join(thread, NULL);
    return seen > 1;
}
