// A is read and then M is locked; M is locked and then A is written.
//@ check: race deadlock misuse safety
#include <pthread.h>

static int total;
static pthread_rwlock_t a = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

static void *forward(void *arg)
{
    (void)arg;
    pthread_rwlock_rdlock(&a);
    pthread_mutex_lock(&m); //~ deadlock A: acquire m
    total++;
    pthread_mutex_unlock(&m);
    pthread_rwlock_unlock(&a);
    return NULL;
}

static void *backward(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&m);
    pthread_rwlock_wrlock(&a); //~ deadlock A: acquire a
    total++;
    pthread_rwlock_unlock(&a);
    pthread_mutex_unlock(&m);
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, forward, NULL);
    pthread_create(&threads[1], NULL, backward, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return total != 2;
}
