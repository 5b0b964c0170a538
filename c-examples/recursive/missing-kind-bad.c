// add() takes the lock that its caller already holds. The mutex is of the default kind: the thread
// waits for itself.
//@ check: race misuse safety
#include <pthread.h>

static int total;
static pthread_mutex_t lock;

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
    add(1);
    add(2);
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_DEFAULT);
    pthread_mutex_init(&lock, &kind);
    pthread_create(&thread, NULL, worker, NULL);
    pthread_join(thread, NULL);
    return total != 3;
}
