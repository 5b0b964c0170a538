// A function that calls itself gives its lock back before it does.
//@ check: race deadlock misuse safety
//@ clean
#include <pthread.h>

static int total;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void enter(pthread_mutex_t *mutex)
{
    pthread_mutex_lock(mutex);
}

static void add(int times)
{
    enter(&lock);
    total++;
    pthread_mutex_unlock(&lock);
    if (times > 1)
        add(times - 1);
}

static void *worker(void *arg)
{
    (void)arg;
    add(2);
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return total != 4;
}
