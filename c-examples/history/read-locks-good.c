// Each thread holds its own write lock and has passed through the other's: whoever came second got
// through only after the first had left. No lock is held in common, yet there is no race.
//@ check: race deadlock misuse safety
#include <pthread.h>

#define LOCK pthread_rwlock_wrlock
#define TRY pthread_rwlock_trywrlock

static int total;
static pthread_rwlock_t left = PTHREAD_RWLOCK_INITIALIZER;
static pthread_rwlock_t right = PTHREAD_RWLOCK_INITIALIZER;

static void *left_first(void *arg)
{
    (void)arg;
    LOCK(&left);
    if (TRY(&right) == 0) {
        pthread_rwlock_unlock(&right);
        total += 1; //~ no race: the acquisition histories exclude it
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
        total += 2; //~ no race: the acquisition histories exclude it
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
