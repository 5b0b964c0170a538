// A reader reads once more. A writer may be waiting by then, but glibc lets readers in before writers.
//@ check: race deadlock misuse safety
#include <pthread.h>

static int total;
static pthread_rwlock_t a = PTHREAD_RWLOCK_INITIALIZER;

static void *reader(void *arg)
{
    (void)arg;
    pthread_rwlock_rdlock(&a);
    pthread_rwlock_rdlock(&a); //~ no double-lock: readers nest
    pthread_rwlock_unlock(&a);
    pthread_rwlock_unlock(&a);
    return NULL;
}

static void *writer(void *arg)
{
    (void)arg;
    pthread_rwlock_wrlock(&a);
    total++;
    pthread_rwlock_unlock(&a);
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, reader, NULL);
    pthread_create(&threads[1], NULL, writer, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return total != 1;
}
