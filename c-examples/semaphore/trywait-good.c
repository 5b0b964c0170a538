// The addition runs only when sem_trywait got the permit.
//@ check: race deadlock misuse safety
#include <pthread.h>
#include <semaphore.h>

static int total;
static sem_t permits;

static void *worker(void *arg)
{
    (void)arg;
    if (sem_trywait(&permits) != 0)
        return NULL;
    total++; //~ no race: reached only with the one permit
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
    return 0;
}
