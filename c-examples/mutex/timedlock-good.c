// A timed lock may give up. Only a thread that got the lock goes on to the addition.
//@ check: race deadlock misuse safety
#include <pthread.h>
#include <time.h>

static int total;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *patient(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&lock);
    total += 1;
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *hurried(void *arg)
{
    struct timespec long_ago = {0, 0};
    (void)arg;
    if (pthread_mutex_timedlock(&lock, &long_ago) != 0)
        return NULL;
    total += 2; //~ no race: only after the timed lock succeeded
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t first, second;
    pthread_create(&first, NULL, patient, NULL);
    pthread_create(&second, NULL, hurried, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
