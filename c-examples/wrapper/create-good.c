// A wrapper creates the threads. main joins both before it reads the count.
//@ check: race deadlock misuse safety
#include <pthread.h>

static int count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int start(pthread_t *thread, const pthread_attr_t *attributes, void *(*routine)(void *))
{
    return pthread_create(thread, attributes, routine, NULL);
}

static void *worker(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&lock);
    count++;
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t first, second;
    start(&first, NULL, worker);
    start(&second, NULL, worker);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return count != 2; //~ no race: both have been joined
}
