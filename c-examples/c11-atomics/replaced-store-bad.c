// The second thread's store of 2 replaces the producer's 1. The consumer that reads 2 synchronises
// with the second thread only, and knows nothing of the message.
//@ check: race deadlock misuse safety
#include <pthread.h>
#include <stdatomic.h>

static int message, received;
static atomic_int stage;

static void *producer(void *arg)
{
    (void)arg;
    message = 42; //~ race A: write message
    atomic_store_explicit(&stage, 1, memory_order_release);
    return NULL;
}

static void *other(void *arg)
{
    (void)arg;
    atomic_store_explicit(&stage, 2, memory_order_release);
    return NULL;
}

static void *consumer(void *arg)
{
    (void)arg;
    if (atomic_load_explicit(&stage, memory_order_acquire) == 2)
        received = message; //~ race A: read message
    return NULL;
}

int main(void)
{
    pthread_t threads[3];
    pthread_create(&threads[0], NULL, producer, NULL);
    pthread_create(&threads[1], NULL, other, NULL);
    pthread_create(&threads[2], NULL, consumer, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return received != 42 && received != 0;
}
