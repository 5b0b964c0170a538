// The child passes through a lock that main holds since before the child existed: when the child
// writes, main has released the lock and is done. No lock is held in common, yet there is no race.
//@ check: race deadlock misuse safety
#include <pthread.h>

static int shared;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *child(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    shared = 2; //~ no race: main has released the lock before
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_mutex_lock(&lock);
    pthread_create(&thread, NULL, child, NULL);
    shared = 1; //~ no race: the child waits for the lock first
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    return shared != 2;
}
