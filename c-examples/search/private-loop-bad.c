// One thread runs for ever on its own data; two others race. A search that keeps following the
// first never gets to the race.
//@ check: race deadlock misuse safety
#include <pthread.h>
#include <stdatomic.h>

static volatile int toggle;
static atomic_int started;
static int hits;

static void *spinner(void *arg)
{
    (void)arg;
    for (;;)
        toggle = !toggle; //~ no race: only this thread uses it
}

static void *worker(void *arg)
{
    (void)arg;
    started++;
    hits++; //~ race A: write hits
    return NULL;
}

int main(void)
{
    pthread_t background, first, second;
    pthread_create(&background, NULL, spinner, NULL);
    pthread_create(&first, NULL, worker, NULL);
    pthread_create(&second, NULL, worker, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return started != 2 || hits > 2;
}
