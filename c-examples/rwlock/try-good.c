// The reader reads only when tryrdlock succeeded.
//@ check: race deadlock misuse safety
#include <pthread.h>

static int price = 1, seen;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

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
    if (pthread_rwlock_tryrdlock(&lock) != 0)
        return NULL;
    seen = price; //~ no race: reached only with the read lock
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
    return seen > 2;
}
