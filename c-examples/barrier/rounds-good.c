// Two rounds: the producer fills the next batch while nobody reads, the consumer reads while nobody fills.
//@ check: race deadlock misuse safety
#include <pthread.h>

static int batch, sum;
static pthread_barrier_t barrier;

static void *consumer(void *arg)
{
    (void)arg;
    pthread_barrier_wait(&barrier);
    sum += batch; //~ no race: between the first and the second round
    pthread_barrier_wait(&barrier);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_create(&thread, NULL, consumer, NULL);
    batch = 1; //~ no race: before the first round
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    batch = 2; //~ no race: after the second round
    pthread_join(thread, NULL);
    pthread_barrier_destroy(&barrier);
    return sum != 1;
}
