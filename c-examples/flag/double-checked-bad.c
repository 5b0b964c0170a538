// Double-checked initialisation whose first look is relaxed: who sees the pointer there does not
// necessarily see what it points to.
//@ check: race deadlock misuse safety
#include <pthread.h>
#include <stdatomic.h>

struct config {
    int level;
};

static struct config storage;
static struct config *_Atomic current;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int level(void)
{
    struct config *config = atomic_load_explicit(&current, memory_order_relaxed);
    if (!config) {
        pthread_mutex_lock(&lock);
        config = atomic_load_explicit(&current, memory_order_relaxed);
        if (!config) {
            config = &storage;
            config->level = 3; //~ race A: write storage.level
            atomic_store_explicit(&current, config, memory_order_release);
        }
        pthread_mutex_unlock(&lock);
    }
    return config->level; //~ race A: read storage.level
}

static void *worker(void *arg)
{
    *(int *)arg = level();
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    int seen[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, worker, &seen[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return seen[0] + seen[1] != 6;
}
