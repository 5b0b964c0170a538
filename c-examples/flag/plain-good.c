// An atomic flag: who sees it set also sees the message.
//@ check: race deadlock misuse safety
#include <pthread.h>
#include <stdatomic.h>

static int message, received;
static atomic_int ready;

static void *producer(void *arg)
{
    (void)arg;
    message = 42; //~ no race: before the flag is set
    ready = 1;
    return NULL;
}

static void *consumer(void *arg)
{
    (void)arg;
    if (ready)
        received = message; //~ no race: only after the flag was seen
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
