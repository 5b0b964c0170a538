// The same function, run by three threads: a circle of four locks needs four of them.
//@ check: race deadlock misuse safety
#include <pthread.h>

#define THREADS 3

static int total;
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t b = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t c = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t d = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t counter = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&a);
    pthread_mutex_lock(&b); //~ no deadlock: a circle of 4 needs 4 threads
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
    pthread_mutex_lock(&c);
    pthread_mutex_lock(&d); //~ no deadlock: a circle of 4 needs 4 threads
    pthread_mutex_unlock(&d);
    pthread_mutex_unlock(&c);
    pthread_mutex_lock(&b);
    pthread_mutex_lock(&c); //~ no deadlock: a circle of 4 needs 4 threads
    pthread_mutex_unlock(&c);
    pthread_mutex_unlock(&b);
    pthread_mutex_lock(&d);
    pthread_mutex_lock(&a); //~ no deadlock: a circle of 4 needs 4 threads
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&d);
    pthread_mutex_lock(&counter);
    total++;
    pthread_mutex_unlock(&counter);
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return total != THREADS;
}
