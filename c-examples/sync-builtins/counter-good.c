// Both threads add with __sync_fetch_and_add.
//@ check: race deadlock misuse safety
//@ clean
#include <pthread.h>

static int hits;

static void *careful(void *arg)
{
    (void)arg;
    __sync_fetch_and_add(&hits, 1);
    return NULL;
}

static void *careless(void *arg)
{
    (void)arg;
    __sync_fetch_and_add(&hits, 1);
    return NULL;
}

int main(void)
{
    pthread_t first, second;
    pthread_create(&first, NULL, careful, NULL);
    pthread_create(&second, NULL, careless, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return hits < 1 || hits > 2;
}
