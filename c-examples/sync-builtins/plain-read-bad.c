// The writer adds atomically, the reader reads plainly: still a race.
//@ check: race deadlock misuse safety
#include <pthread.h>

static int hits, seen;

static void *writer(void *arg)
{
    (void)arg;
    __atomic_fetch_add(&hits, 1, __ATOMIC_SEQ_CST); //~ race A: write hits
    return NULL;
}

static void *reader(void *arg)
{
    (void)arg;
    seen = hits; //~ race A: read hits
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
