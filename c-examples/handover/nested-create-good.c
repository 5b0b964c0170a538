// The third thread is over before the first one starts: all three are ordered.
//@ check: race deadlock misuse safety
#include <pthread.h>

static int shared, copy;

static void *helper(void *arg)
{
    (void)arg;
    copy = shared; //~ no race: created after the write
    return NULL;
}

static void *parent(void *arg)
{
    pthread_t thread;
    (void)arg;
    shared = 1;
    pthread_create(&thread, NULL, helper, NULL);
    pthread_join(thread, NULL);
    return NULL;
}

static void *stranger(void *arg)
{
    (void)arg;
    shared = 2; //~ no race: joined before the others start
    return NULL;
}

int main(void)
{
    pthread_t first, second;
    pthread_create(&first, NULL, stranger, NULL);
    pthread_join(first, NULL);
    pthread_create(&second, NULL, parent, NULL);
    pthread_join(second, NULL);
    return copy == 0;
}
