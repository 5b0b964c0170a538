// Behind a loop and a call, and only if the other thread came first, `shared` is written without the
// lock: what one run does not show must not be taken for impossible.
//@ check: race deadlock misuse safety
#include <pthread.h>

static int shared, open;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *opener(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&lock);
    open = 1;
    pthread_mutex_unlock(&lock);
    shared = 1; //~ race A: write shared
    return NULL;
}

static void behind(void)
{
    shared = 2; //~ race A: write shared
}

static void *walker(void *arg)
{
    int way_is_open = 0;
    (void)arg;
    for (int left = 2; left > 0; left--) {
        pthread_mutex_lock(&lock);
        way_is_open = open;
        pthread_mutex_unlock(&lock);
    }
    if (way_is_open)
        behind();
    return NULL;
}

int main(void)
{
    pthread_t first, second;
    pthread_create(&first, NULL, opener, NULL);
    pthread_create(&second, NULL, walker, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return shared < 1;
}
