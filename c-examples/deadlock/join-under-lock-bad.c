// main waits for the child while it holds the lock that the child needs: neither can go on.
//@ check: race deadlock misuse safety
#include <pthread.h>

static int total;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *child(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&lock); //~ deadlock A: acquire lock
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
    pthread_join(thread, NULL); //~ deadlock A: join child
    pthread_mutex_unlock(&lock);
    return total != 2;
}
