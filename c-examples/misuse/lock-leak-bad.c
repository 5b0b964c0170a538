// The error path returns with the lock held.
//@ check: race deadlock misuse safety
#include <pthread.h>

static int total;
static int amounts[2] = {5, -1};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *arg)
{
    int amount = *(int *)arg;
    pthread_mutex_lock(&lock); //~ lock-leak A: acquire lock
    if (amount < 0) {
        return NULL;
    }
    total += amount;
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    for (int i = 0; i < 2; i++) {
        pthread_create(&thread, NULL, worker, &amounts[i]);
        pthread_join(thread, NULL);
    }
    return total != 5;
}
