// The mutex is given back, then destroyed.
//@ check: race deadlock misuse safety
//@ clean
#include <pthread.h>

static int total;
static pthread_mutex_t lock;

static void *worker(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&lock);
    total++;
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_mutex_init(&lock, NULL);
    pthread_create(&thread, NULL, worker, NULL);
    pthread_join(thread, NULL);
    pthread_mutex_lock(&lock);
    int result = total;
    pthread_mutex_unlock(&lock);
    pthread_mutex_destroy(&lock);
    return result != 1;
}
