// Everybody takes the lock for the write and gives it back.
//@ check: race deadlock misuse safety
//@ clean
#include <pthread.h>

static int shared;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *keeper(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *locked_writer(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&lock);
    shared = 1;
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *other_writer(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&lock);
    shared = 2;
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t threads[3];
    pthread_create(&threads[0], NULL, keeper, NULL);
    pthread_create(&threads[1], NULL, locked_writer, NULL);
    pthread_create(&threads[2], NULL, other_writer, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    pthread_join(threads[2], NULL);
    return 0;
}
