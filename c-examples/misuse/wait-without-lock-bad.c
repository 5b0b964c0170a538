// The poller waits on the condition variable without holding the mutex that it hands to the wait.
//@ check: race deadlock misuse safety
#include <pthread.h>
#include <time.h>

static int polls;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void *poller(void *arg)
{
    struct timespec long_ago = {0, 0};
    (void)arg;
    pthread_cond_timedwait(&changed, &lock, &long_ago); //~ wait-without-lock A: wait changed
    polls++;
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, poller, NULL);
    pthread_join(thread, NULL);
    return polls != 1;
}
