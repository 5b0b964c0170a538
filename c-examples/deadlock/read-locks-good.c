// Both threads only read, in opposite order. Readers share: nobody waits, nobody deadlocks.
//@ check: race deadlock misuse safety
#include <pthread.h>

static int prices = 1, stock = 2, sums[2];
static pthread_rwlock_t left = PTHREAD_RWLOCK_INITIALIZER;
static pthread_rwlock_t right = PTHREAD_RWLOCK_INITIALIZER;

static void *forward(void *arg)
{
    (void)arg;
    pthread_rwlock_rdlock(&left);
    pthread_rwlock_rdlock(&right); //~ no deadlock: readers share, and there is no writer
    sums[0] = prices + stock;
    pthread_rwlock_unlock(&right);
    pthread_rwlock_unlock(&left);
    return NULL;
}

static void *backward(void *arg)
{
    (void)arg;
    pthread_rwlock_rdlock(&right);
    pthread_rwlock_rdlock(&left); //~ no deadlock: readers share, and there is no writer
    sums[1] = prices + stock;
    pthread_rwlock_unlock(&left);
    pthread_rwlock_unlock(&right);
    return NULL;
}

int main(void)
{
    pthread_t first, second;
    pthread_create(&first, NULL, forward, NULL);
    pthread_create(&second, NULL, backward, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return sums[0] != sums[1];
}
