// The first thread writes `fresh` before it redirects the pointer: the lock orders the two writes.
//@ check: race deadlock misuse safety
#include <pthread.h>

static int old, fresh;
static int *target = &old;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *redirect(void *arg)
{
    (void)arg;
    fresh = 1; //~ no race: before the redirection
    pthread_mutex_lock(&lock);
    target = &fresh;
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *follow(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&lock);
    int *found = target;
    pthread_mutex_unlock(&lock);
    *found = 2; //~ no race: `fresh` is found only after its first write
    return NULL;
}

int main(void)
{
    pthread_t first, second;
    pthread_create(&first, NULL, redirect, NULL);
    pthread_create(&second, NULL, follow, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return old + fresh < 1;
}
