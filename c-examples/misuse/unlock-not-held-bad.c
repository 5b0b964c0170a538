// The error path unlocks, and then falls into the common unlock: the second one finds no lock held.
//@ check: race deadlock misuse safety
#include <pthread.h>

static int total;
static int amounts[2] = {5, -1};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *arg)
{
    int amount = *(int *)arg;
    pthread_mutex_lock(&lock);
    if (amount > 0)
        total += amount;
    else
        pthread_mutex_unlock(&lock);
    pthread_mutex_unlock(&lock); //~ unlock-not-held A: release lock
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
