// Writer and reader both use the __atomic builtins.
//@ check: race deadlock misuse safety
//@ clean
#include <pthread.h>

static int hits, seen;

static void *writer(void *arg)
{
    (void)arg;
    __atomic_fetch_add(&hits, 1, __ATOMIC_SEQ_CST);
    return NULL;
}

static void *reader(void *arg)
{
    (void)arg;
    seen = __atomic_load_n(&hits, __ATOMIC_SEQ_CST);
    return NULL;
}

int main(void)
{
    pthread_t first, second;
    pthread_create(&first, NULL, writer, NULL);
    pthread_create(&second, NULL, reader, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return seen > hits;
}
