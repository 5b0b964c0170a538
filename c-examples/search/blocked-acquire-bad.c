// One thread ends with the lock, so the second may never get it. Where it does come first, its
// write races with the third thread's; a search that looks only at what can run misses that.
//@ check: race
#include <pthread.h>

static int shared;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *keeper(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&lock);
    return NULL;
}

static void *locked_writer(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&lock);
    shared = 1; //~ race A: write shared
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *other_writer(void *arg)
{
    (void)arg;
    shared = 2; //~ race A: write shared
    return NULL;
}

int main(void)
{
    pthread_t threads[3];
    pthread_create(&threads[0], NULL, keeper, NULL);
    pthread_create(&threads[1], NULL, locked_writer, NULL);
    pthread_create(&threads[2], NULL, other_writer, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[2], NULL);
    return 0;
}
