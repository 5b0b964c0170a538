// The object is filled while only its creator knows it, and put into the shared pointer afterwards.
//@ check: race deadlock misuse safety
#include <pthread.h>

struct config {
    int level;
};

static struct config storage;
static struct config *current;
static int seen;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *creator(void *arg)
{
    struct config *fresh = &storage;
    (void)arg;
    fresh->level = 3; //~ no race: not yet published
    pthread_mutex_lock(&lock);
    current = fresh;
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *user(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&lock);
    struct config *found = current;
    pthread_mutex_unlock(&lock);
    if (found)
        seen = found->level; //~ no race: found under the lock that published it
    return NULL;
}

int main(void)
{
    pthread_t first, second;
    pthread_create(&first, NULL, creator, NULL);
    pthread_create(&second, NULL, user, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return seen != 0 && seen != 3;
}
