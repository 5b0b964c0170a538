// A timed write lock may give up; only a writer that got it writes.
//@ check: race deadlock misuse safety
#include <pthread.h>
#include <time.h>

static int price = 1, seen;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

static void *writer(void *arg)
{
    struct timespec long_ago = {0, 0};
    (void)arg;
    if (pthread_rwlock_timedwrlock(&lock, &long_ago) != 0)
        return NULL;
    price = 2; //~ no race: reached only with the write lock
    pthread_rwlock_unlock(&lock);
    return NULL;
}

static void *reader(void *arg)
{
    (void)arg;
    pthread_rwlock_rdlock(&lock);
    seen = price;
    pthread_rwlock_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t first, second;
    pthread_create(&first, NULL, writer, NULL);
    pthread_create(&second, NULL, reader, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return seen < 1 || seen > 2;
}
