// A semaphore with one permit works as a lock.
//@ check: race deadlock misuse safety
#include <pthread.h>
#include <semaphore.h>

static int total;
static sem_t permits;

static void *worker(void *arg)
{
    (void)arg;
    sem_wait(&permits);
    total++; //~ no race: there is one permit
    sem_post(&permits);
    return NULL;
}

int main(void)
{
    pthread_t first, second;
    sem_init(&permits, 0, 1);
    pthread_create(&first, NULL, worker, NULL);
    pthread_create(&second, NULL, worker, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    sem_destroy(&permits);
    return total != 2;
}
