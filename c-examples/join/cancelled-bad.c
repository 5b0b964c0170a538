// pthread_cancel only asks the thread to end. main reads what the thread writes without joining it.
//@ check: race deadlock misuse safety
#include <pthread.h>

static int progress;

static void *worker(void *arg)
{
    (void)arg;
    progress = 1; //~ race A: write progress
    pthread_testcancel();
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    pthread_cancel(thread);
    int seen = progress; //~ race A: read progress
    pthread_join(thread, NULL);
    return seen > 1;
}
