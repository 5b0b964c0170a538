// add() takes the lock that its caller already holds: the thread waits for itself.
//@ check: race misuse safety
#include <pthread.h>

static int total;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void add(int amount)
{
    pthread_mutex_lock(&lock); //~ double-lock A: acquire lock
    total += amount;
    pthread_mutex_unlock(&lock);
}

static void *worker(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&lock);
    total *= 2;
    add(1);
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    pthread_join(thread, NULL);
    return total != 1;
}
