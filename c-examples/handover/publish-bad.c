// The object is put into the shared pointer first and filled afterwards: others can see it half done.
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
    pthread_mutex_lock(&lock);
    current = fresh;
    pthread_mutex_unlock(&lock);
    fresh->level = 3; //~ race A: write storage.level
    return NULL;
}

static void *user(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&lock);
    struct config *found = current;
    pthread_mutex_unlock(&lock);
    if (found)
        seen = found->level; //~ race A: read storage.level
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
