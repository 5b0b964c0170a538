// A timed wait for the message may give up; only a consumer that was posted to reads.
//@ check: race deadlock misuse safety
#include <pthread.h>
#include <semaphore.h>
#include <time.h>

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
    struct timespec long_ago = {0, 0};
    (void)arg;
    if (sem_timedwait(&full, &long_ago) != 0)
        return NULL;
    received = message; //~ no race: only after the post
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
