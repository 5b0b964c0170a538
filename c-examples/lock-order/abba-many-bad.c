// Four threads of one kind: those with odd numbers take A and B, the others B and A.
//@ check: race deadlock misuse safety
#include <pthread.h>
#include <stdint.h>

#define THREADS 4

static int total;
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t b = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *arg)
{
    if ((intptr_t)arg % 2) {
        pthread_mutex_lock(&a);
        pthread_mutex_lock(&b); //~ deadlock A: acquire b
        total++;
        pthread_mutex_unlock(&b);
        pthread_mutex_unlock(&a);
    } else {
        pthread_mutex_lock(&b);
        pthread_mutex_lock(&a); //~ deadlock A: acquire a
        total++;
        pthread_mutex_unlock(&a);
        pthread_mutex_unlock(&b);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, worker, (void *)(intptr_t)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return total != THREADS;
}
