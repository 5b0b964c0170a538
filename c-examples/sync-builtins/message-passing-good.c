// Release store, acquire load: who sees the flag sees the message.
//@ check: race deadlock misuse safety
#include <pthread.h>

static int message, ready, received;

static void *producer(void *arg)
{
    (void)arg;
    message = 42; //~ no race: before the release store
    __atomic_store_n(&ready, 1, __ATOMIC_RELEASE);
    return NULL;
}

static void *consumer(void *arg)
{
    (void)arg;
    if (__atomic_load_n(&ready, __ATOMIC_ACQUIRE))
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
