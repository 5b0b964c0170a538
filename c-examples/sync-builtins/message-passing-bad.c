// The reader loads the flag relaxed: it may see the flag without the message.
//@ check: race deadlock misuse safety
#include <pthread.h>

static int message, ready, received;

static void *producer(void *arg)
{
    (void)arg;
    message = 42; //~ race A: write message
    __atomic_store_n(&ready, 1, __ATOMIC_RELEASE);
    return NULL;
}

static void *consumer(void *arg)
{
    (void)arg;
    if (__atomic_load_n(&ready, __ATOMIC_RELAXED))
        received = message; //~ race A: read message
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
