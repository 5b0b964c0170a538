// A function that calls itself takes its lock before it gives it back: the second call waits for the first.
//@ check: race deadlock misuse safety
#include <pthread.h>

static int total;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void enter(pthread_mutex_t *mutex)
{
    pthread_mutex_lock(mutex); //~ double-lock A: acquire lock
}

static void add(int times)
{
    enter(&lock);
    total++;
    if (times > 1)
        add(times - 1);
    pthread_mutex_unlock(&lock);
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
