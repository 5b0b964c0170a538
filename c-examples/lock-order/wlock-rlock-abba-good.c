// The second thread only reads B: it does not hold up the first one.
//@ check: race deadlock misuse safety
#include <pthread.h>

static int total;
static pthread_rwlock_t a = PTHREAD_RWLOCK_INITIALIZER;
static pthread_rwlock_t b = PTHREAD_RWLOCK_INITIALIZER;

static void *forward(void *arg)
{
    (void)arg;
    pthread_rwlock_wrlock(&a);
    pthread_rwlock_rdlock(&b); //~ no deadlock: a reader of B does not hold up another one
    total++;
    pthread_rwlock_unlock(&b);
    pthread_rwlock_unlock(&a);
    return NULL;
}

static void *backward(void *arg)
{
    (void)arg;
    pthread_rwlock_rdlock(&b);
    pthread_rwlock_rdlock(&a); //~ no deadlock: a reader of B does not hold up another one
    int seen = total;
    (void)seen;
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
