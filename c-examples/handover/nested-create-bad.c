// A thread writes, then creates a helper that reads: these two are ordered. A third thread that
// writes at the same time is ordered with neither.
//@ check: race deadlock misuse safety
#include <pthread.h>

static int shared, copy;

static void *helper(void *arg)
{
    (void)arg;
    copy = shared; //~ race B: read shared
    return NULL;
}

static void *parent(void *arg)
{
    pthread_t thread;
    (void)arg;
    shared = 1; //~ race A: write shared
    pthread_create(&thread, NULL, helper, NULL);
    pthread_join(thread, NULL);
    return NULL;
}

static void *stranger(void *arg)
{
    (void)arg;
    shared = 2; //~ race A: write shared; race B: write shared
    return NULL;
}

int main(void)
{
    pthread_t first, second;
    pthread_create(&first, NULL, stranger, NULL);
    pthread_create(&second, NULL, parent, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return copy == 0;
}
