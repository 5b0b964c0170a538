// main asks the thread to end, and reads only when the join says that it has ended.
//@ check: race deadlock misuse safety
#include <pthread.h>

static int progress;

static void *worker(void *arg)
{
    (void)arg;
    progress = 1; //~ no race: before any point where the thread can be cancelled
    pthread_testcancel();
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    pthread_cancel(thread);
    pthread_join(thread, NULL);
    int seen = progress; //~ no race: after the join
    return seen > 1;
}
