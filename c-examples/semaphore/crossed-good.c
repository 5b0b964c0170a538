// Two semaphores used as locks, taken in the same order.
//@ check: race deadlock misuse safety
//@ clean
#include <pthread.h>
#include <semaphore.h>

static int total;
static sem_t left, right;

static void *forward(void *arg)
{
    (void)arg;
    sem_wait(&left);
    sem_wait(&right);
    total++;
    sem_post(&right);
    sem_post(&left);
    return NULL;
}

static void *backward(void *arg)
{
    (void)arg;
    sem_wait(&left);
    sem_wait(&right);
    total++;
    sem_post(&left);
    sem_post(&right);
    return NULL;
}

int main(void)
{
    pthread_t first, second;
    sem_init(&left, 0, 1);
    sem_init(&right, 0, 1);
    pthread_create(&first, NULL, forward, NULL);
    pthread_create(&second, NULL, backward, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return total != 2;
}
