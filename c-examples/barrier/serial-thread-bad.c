// The test accepts both codes that mean "the barrier was passed", so every thread writes the summary.
//@ check: race deadlock misuse safety
#include <pthread.h>

static int parts[2], summary;
static int ids[2] = {0, 1};
static pthread_barrier_t barrier;

static void *worker(void *arg)
{
    int me = *(int *)arg;
    parts[me] = me + 1;
    int code = pthread_barrier_wait(&barrier);
    if (code == 0 || code == PTHREAD_BARRIER_SERIAL_THREAD)
        summary = parts[0] + parts[1]; //~ race A: write summary
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    pthread_barrier_init(&barrier, NULL, 2);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, worker, &ids[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&barrier);
    return summary != 3;
}
