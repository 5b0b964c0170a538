// A recursive mutex behind wrappers, taken once a level; the innermost level forgets to give it back.
// The thread ends with the lock, and nobody gets it again.
//@ check: race misuse
#define _GNU_SOURCE
#include <pthread.h>

static int total;
static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

static void enter(void)
{
    pthread_mutex_lock(&lock); //~ lock-leak A: acquire lock
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
    if (level == 0)
        return;
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
