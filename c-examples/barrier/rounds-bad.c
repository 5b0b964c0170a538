// The producer fills the next batch between the rounds, while the consumer reads the last one.
//@ check: race deadlock misuse safety
#include <pthread.h>

static int batch, sum;
static pthread_barrier_t barrier;

static void *consumer(void *arg)
{
    (void)arg;
    pthread_barrier_wait(&barrier);
    sum += batch; //~ race A: read batch
    pthread_barrier_wait(&barrier);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_create(&thread, NULL, consumer, NULL);
    batch = 1;
    pthread_barrier_wait(&barrier);
    batch = 2; //~ race A: write batch
    pthread_barrier_wait(&barrier);
    pthread_join(thread, NULL);
    pthread_barrier_destroy(&barrier);
    return sum < 1;
}
