// The pointer is tested and used in one critical section.
//@ check: race deadlock misuse safety
//@ clean
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
    if (usable)
        seen = *current;
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
