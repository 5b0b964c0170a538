// The wait sits in a wrapper that returns with the lock held: the addition is protected.
//@ check: race deadlock misuse safety
#include <pthread.h>

static int opened, inside;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void wait_until_open(void)
{
    pthread_mutex_lock(&lock);
    while (!opened)
        pthread_cond_wait(&changed, &lock);
}

static void *worker(void *arg)
{
    (void)arg;
    wait_until_open();
    inside++; //~ no race: the wrapper returns with the lock held
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t first, second;
    pthread_create(&first, NULL, worker, NULL);
    pthread_create(&second, NULL, worker, NULL);
    pthread_mutex_lock(&lock);
    opened = 1;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return inside != 2;
}
