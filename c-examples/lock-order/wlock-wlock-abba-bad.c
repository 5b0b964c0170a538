// Two writers in opposite order: read-write locks that are only written are mutexes.
//@ check: race deadlock misuse safety
#include <pthread.h>

static int total;
static pthread_rwlock_t a = PTHREAD_RWLOCK_INITIALIZER;
static pthread_rwlock_t b = PTHREAD_RWLOCK_INITIALIZER;

static void *forward(void *arg)
{
    (void)arg;
    pthread_rwlock_wrlock(&a);
    pthread_rwlock_wrlock(&b); //~ deadlock A: acquire b
    total++;
    pthread_rwlock_unlock(&b);
    pthread_rwlock_unlock(&a);
    return NULL;
}

static void *backward(void *arg)
{
    (void)arg;
    pthread_rwlock_wrlock(&b);
    pthread_rwlock_wrlock(&a); //~ deadlock A: acquire a
    total++;
    pthread_rwlock_unlock(&a);
    pthread_rwlock_unlock(&b);
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, forward, NULL);
    pthread_create(&threads[1], NULL, backward, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
