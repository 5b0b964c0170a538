// Each thread keeps the address of its own element under the key.
//@ check: race deadlock misuse safety
#include <pthread.h>

static int values[2];
static int ids[2] = {0, 1};
static pthread_key_t key;

static void add(int amount)
{
    int *value = pthread_getspecific(key);
    *value += amount; //~ no race: each thread has its own element
}

static void *worker(void *arg)
{
    int me = *(int *)arg;
    pthread_setspecific(key, &values[me]);
    add(me + 1);
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    pthread_key_create(&key, NULL);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, worker, &ids[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    pthread_key_delete(key);
    return values[0] + values[1] > 3;
}
