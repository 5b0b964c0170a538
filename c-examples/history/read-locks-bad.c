// Each thread holds its own read lock and has passed through the other's. Readers share, so both can
// stand at their write at once.
//@ check: race deadlock misuse safety
#include <pthread.h>

#define LOCK pthread_rwlock_rdlock
#define TRY pthread_rwlock_tryrdlock

static int total;
static pthread_rwlock_t left = PTHREAD_RWLOCK_INITIALIZER;
static pthread_rwlock_t right = PTHREAD_RWLOCK_INITIALIZER;

static void *left_first(void *arg)
{
    (void)arg;
    LOCK(&left);
    if (TRY(&right) == 0) {
        pthread_rwlock_unlock(&right);
        total += 1; //~ race A: write total
    }
    pthread_rwlock_unlock(&left);
    return NULL;
}

static void *right_first(void *arg)
{
    (void)arg;
    LOCK(&right);
    if (TRY(&left) == 0) {
        pthread_rwlock_unlock(&left);
        total += 2; //~ race A: write total
    }
    pthread_rwlock_unlock(&right);
    return NULL;
}

int main(void)
{
    pthread_t first, second;
    pthread_create(&first, NULL, left_first, NULL);
    pthread_create(&second, NULL, right_first, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return total > 3;
}
