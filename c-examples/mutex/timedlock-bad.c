// A timed lock may give up. Its result is ignored, so the addition can run without the lock.
// (The unlock after a failed lock is a second mistake, outside the check asked for here.)
//@ check: race
#include <pthread.h>
#include <time.h>

static int total;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *patient(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&lock);
    total += 1; //~ race A: write total
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *hurried(void *arg)
{
    struct timespec long_ago = {0, 0};
    (void)arg;
    pthread_mutex_timedlock(&lock, &long_ago);
    total += 2; //~ race A: write total
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
