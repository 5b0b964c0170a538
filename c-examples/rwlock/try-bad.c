// tryrdlock fails while the writer is inside, and the reader reads all the same.
// (The unlock after a failed lock is a second mistake, outside the check asked for here.)
//@ check: race
#include <pthread.h>

static int price = 1, seen;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

static void *writer(void *arg)
{
    (void)arg;
    pthread_rwlock_wrlock(&lock);
    price = 2; //~ race A: write price
    pthread_rwlock_unlock(&lock);
    return NULL;
}

static void *reader(void *arg)
{
    (void)arg;
    pthread_rwlock_tryrdlock(&lock);
    seen = price; //~ race A: read price
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
