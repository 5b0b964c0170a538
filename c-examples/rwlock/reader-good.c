// The reader takes the read lock: it excludes the writer, not other readers.
//@ check: race deadlock misuse safety
//@ clean
#include <pthread.h>

static int price = 1, seen;
static pthread_rwlock_t lock;

static void *writer(void *arg)
{
    (void)arg;
    pthread_rwlock_wrlock(&lock);
    price = 2;
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
    pthread_rwlock_init(&lock, NULL);
    pthread_create(&first, NULL, writer, NULL);
    pthread_create(&second, NULL, reader, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    pthread_rwlock_destroy(&lock);
    return seen < 1 || seen > 2;
}
