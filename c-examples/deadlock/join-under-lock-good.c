// main gives the lock back before it waits for the child.
//@ check: race deadlock misuse safety
//@ clean
#include <pthread.h>

static int total;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *child(void *arg)
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
    pthread_mutex_lock(&lock);
    pthread_create(&thread, NULL, child, NULL);
    total++;
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    return total != 2;
}
