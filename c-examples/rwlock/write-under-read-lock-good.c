// Who changes the total takes the write lock.
//@ check: race deadlock misuse safety
//@ clean
#include <pthread.h>

static int total;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

static void *worker(void *arg)
{
    (void)arg;
    pthread_rwlock_wrlock(&lock);
    total++;
    pthread_rwlock_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return total != 2;
}
