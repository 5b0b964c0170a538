// A timed wait for the message may give up; the consumer reads all the same.
//@ check: race deadlock misuse safety
#include <pthread.h>
#include <semaphore.h>
#include <time.h>

static int message, received;
static sem_t full;

static void *producer(void *arg)
{
    (void)arg;
    message = 42; //~ race A: write message
    sem_post(&full);
    return NULL;
}

static void *consumer(void *arg)
{
    struct timespec long_ago = {0, 0};
    (void)arg;
    sem_timedwait(&full, &long_ago);
    received = message; //~ race A: read message
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
    return received != 42 && received != 0;
}
