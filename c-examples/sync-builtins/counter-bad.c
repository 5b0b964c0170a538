// One thread adds with __sync_fetch_and_add, the other with ++: an atomic and a plain access race.
//@ check: race deadlock misuse safety
#include <pthread.h>

static int hits;

static void *careful(void *arg)
{
    (void)arg;
    __sync_fetch_and_add(&hits, 1); //~ race A: write hits
    return NULL;
}

static void *careless(void *arg)
{
    (void)arg;
    hits++; //~ race A: write hits
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
