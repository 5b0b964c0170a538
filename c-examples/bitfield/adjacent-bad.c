// Two neighbouring bit-fields share a byte: writing one rewrites the other, and their two locks do
// not exclude each other.
//@ check: race deadlock misuse safety
#include <pthread.h>

struct flags {
    unsigned char open : 1, dirty : 1;
};

static struct flags flags;
static pthread_mutex_t open_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t dirty_lock = PTHREAD_MUTEX_INITIALIZER;

static void *opener(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&open_lock);
    flags.open = 1; //~ race A: write flags.open
    pthread_mutex_unlock(&open_lock);
    return NULL;
}

static void *writer(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&dirty_lock);
    flags.dirty = 1; //~ race A: write flags.dirty
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
