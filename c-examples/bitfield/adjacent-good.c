// Two neighbouring chars are two memory locations: each may have its own lock.
//@ check: race deadlock misuse safety
#include <pthread.h>

struct flags {
    unsigned char open, dirty;
};

static struct flags flags;
static pthread_mutex_t open_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t dirty_lock = PTHREAD_MUTEX_INITIALIZER;

static void *opener(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&open_lock);
    flags.open = 1; //~ no race: another byte than dirty
    pthread_mutex_unlock(&open_lock);
    return NULL;
}

static void *writer(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&dirty_lock);
    flags.dirty = 1; //~ no race: another byte than open
    pthread_mutex_unlock(&dirty_lock);
    return NULL;
}

int main(void)
{
    pthread_t first, second;
    pthread_create(&first, NULL, opener, NULL);
    pthread_create(&second, NULL, writer, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return flags.open + flags.dirty > 2;
}
