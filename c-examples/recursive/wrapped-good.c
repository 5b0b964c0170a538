// A recursive mutex behind wrappers, taken and given back once a level: protected all the way.
//@ check: race deadlock misuse safety
#define _GNU_SOURCE
#include <pthread.h>

static int total;
static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

static void enter(void)
{
    pthread_mutex_lock(&lock);
}

static void leave(void)
{
    pthread_mutex_unlock(&lock);
}

static void climb(int level)
{
    enter();
    if (level > 0)
        climb(level - 1);
    total++; //~ no race: the mutex is held on every level
    leave();
}

static void *worker(void *arg)
{
    (void)arg;
    climb(2);
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return total != 6;
}
