// The key's destructor runs when a thread ends, in that thread: two destructors add to one plain total.
//@ check: race deadlock misuse safety
#include <pthread.h>
#include <stdatomic.h>

static int values[2] = {1, 2};
static atomic_int ended;
static int total;
static pthread_key_t key;

static void collect(void *value)
{
    ended++;
    total += *(int *)value; //~ race A: write total
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
