// The producer writes, then posts; the consumer waits, then reads. No lock is needed.
//@ check: race deadlock misuse safety
#include <pthread.h>
#include <semaphore.h>

static int message, received;
static sem_t full;

static void *producer(void *arg)
{
    (void)arg;
    message = 42; //~ no race: before the post
    sem_post(&full);
    return NULL;
}

static void *consumer(void *arg)
{
    (void)arg;
    sem_wait(&full);
    received = message; //~ no race: after the wait that the post ended
    return NULL;
}

int main(void)
{
    pthread_t first, second;
    sem_init(&full, 0, 0);
    pthread_create(&first, NULL, producer, NULL);
    pthread_create(&second, NULL, consumer, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    sem_destroy(&full);
    return received != 42;
}
