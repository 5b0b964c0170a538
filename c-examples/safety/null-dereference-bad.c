// The pointer is tested in one critical section and used in the next; in between it is cleared.
//@ check: race deadlock misuse safety
#include <pthread.h>

static int storage = 7, seen;
static int *current = &storage;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *closer(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&lock);
    current = NULL;
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *user(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&lock);
    int usable = current != NULL;
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    if (usable)
        seen = *current; //~ null-dereference A: read current
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t first, second;
    pthread_create(&first, NULL, closer, NULL);
    pthread_create(&second, NULL, user, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return seen != 7 && seen != 0;
}
