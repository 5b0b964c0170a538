// Release on the store, acquire on the load: who sees the flag sees the message.
//@ check: race deadlock misuse safety
#include <pthread.h>
#include <stdatomic.h>

static int message, received;
static atomic_int ready;

static void *producer(void *arg)
{
    (void)arg;
    message = 42; //~ no race: before the release store
    atomic_store_explicit(&ready, 1, memory_order_release);
    return NULL;
}

static void *consumer(void *arg)
{
    (void)arg;
    if (atomic_load_explicit(&ready, memory_order_acquire))
        received = message; //~ no race: only after the acquire load saw 1
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
