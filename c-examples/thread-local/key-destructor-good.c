// The key's destructor runs when a thread ends, in that thread; the total is atomic.
//@ check: race deadlock misuse safety
//@ clean
#include <pthread.h>
#include <stdatomic.h>

static int values[2] = {1, 2};
static atomic_int ended;
static atomic_int total;
static pthread_key_t key;

static void collect(void *value)
{
    ended++;
    total += *(int *)value;
}

static void *worker(void *arg)
{
    pthread_setspecific(key, arg);
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    pthread_key_create(&key, collect);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, worker, &values[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return total > 3 || ended != 2;
}
