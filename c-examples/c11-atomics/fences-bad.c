// Relaxed flag, and a fence on the reader's side only: one fence alone orders nothing.
//@ check: race deadlock misuse safety
#include <pthread.h>
#include <stdatomic.h>

static int message, received;
static atomic_int ready;

static void *producer(void *arg)
{
    (void)arg;
    message = 42; //~ race A: write message
    atomic_store_explicit(&ready, 1, memory_order_relaxed);
    return NULL;
}

static void *consumer(void *arg)
{
    (void)arg;
    if (atomic_load_explicit(&ready, memory_order_relaxed)) {
        atomic_thread_fence(memory_order_acquire);
        received = message; //~ race A: read message
    }
    return NULL;
}

int main(void)
{
    pthread_t first, second;
    pthread_create(&first, NULL, producer, NULL);
    pthread_create(&second, NULL, consumer, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return received != 42 && received != 0;
}
