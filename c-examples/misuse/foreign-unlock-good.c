// Each thread unlocks what it has locked.
//@ check: race deadlock misuse safety
//@ clean
#include <pthread.h>

static int total;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *owner(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&lock);
    total = 1;
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *stranger(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&lock);
    total = 2;
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t first, second;
    pthread_create(&first, NULL, owner, NULL);
    pthread_create(&second, NULL, stranger, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return total < 1;
}
