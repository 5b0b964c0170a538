// The child writes without ever asking for the lock that main still holds.
//@ check: race deadlock misuse safety
#include <pthread.h>

static int shared;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *child(void *arg)
{
    (void)arg;
    shared = 2; //~ race A: write shared
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_mutex_lock(&lock);
    pthread_create(&thread, NULL, child, NULL);
    shared = 1; //~ race A: write shared
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    return shared < 1;
}
