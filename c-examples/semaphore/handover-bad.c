// The producer posts the semaphore before it has written the message.
//@ check: race deadlock misuse safety
#include <pthread.h>
#include <semaphore.h>

static int message, received;
static sem_t full;

static void *producer(void *arg)
{
    (void)arg;
    sem_post(&full);
    message = 42; //~ race A: write message
    return NULL;
}

static void *consumer(void *arg)
{
    (void)arg;
    sem_wait(&full);
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
