// A timed wait also ends when the time is up, so the consumer looks at `ready` again.
//@ check: race deadlock misuse safety
//@ clean
#include <assert.h>
#include <pthread.h>
#include <time.h>

static int ready, received;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void *consumer(void *arg)
{
    struct timespec long_ago = {0, 0};
    (void)arg;
    pthread_mutex_lock(&lock);
    if (!ready)
        pthread_cond_timedwait(&changed, &lock, &long_ago);
    if (ready)
        received = 1;
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *producer(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&lock);
    ready = 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t first, second;
    pthread_create(&first, NULL, consumer, NULL);
    pthread_create(&second, NULL, producer, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return received > ready;
}
