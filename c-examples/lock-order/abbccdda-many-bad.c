// One function takes A and B, B and C, C and D, D and A: with four threads each can be in another of the four
// pairs.
//@ check: race deadlock misuse safety
#include <pthread.h>

#define THREADS 4

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
    pthread_mutex_lock(&b); //~ deadlock A: acquire b
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
    pthread_mutex_lock(&b);
    pthread_mutex_lock(&c); //~ deadlock A: acquire c
    pthread_mutex_unlock(&c);
    pthread_mutex_unlock(&b);
    pthread_mutex_lock(&c);
    pthread_mutex_lock(&d); //~ deadlock A: acquire d
    pthread_mutex_unlock(&d);
    pthread_mutex_unlock(&c);
    pthread_mutex_lock(&d);
    pthread_mutex_lock(&a); //~ deadlock A: acquire a
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
