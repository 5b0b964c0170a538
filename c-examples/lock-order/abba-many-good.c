// Four threads of one kind, and all take A before B.
//@ check: race deadlock misuse safety
//@ clean
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
        pthread_mutex_lock(&b);
        total++;
        pthread_mutex_unlock(&b);
        pthread_mutex_unlock(&a);
    } else {
        pthread_mutex_lock(&a);
        pthread_mutex_lock(&b);
        total++;
        pthread_mutex_unlock(&b);
        pthread_mutex_unlock(&a);
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
