// Each thread *may* have passed through the other's lock before its write, or not. On the paths where
// neither did, both stand at their write together: a race. Mixing the two paths would hide it.
//@ check: race deadlock misuse safety
#include <pthread.h>

extern int __VERIFIER_nondet_int(void);

static int total;
static pthread_mutex_t left = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t right = PTHREAD_MUTEX_INITIALIZER;

static int pass_through(pthread_mutex_t *mutex)
{
    int busy = pthread_mutex_trylock(mutex);
    if (!busy)
        pthread_mutex_unlock(mutex);
    return !busy;
}

static void *left_first(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&left);
    if (__VERIFIER_nondet_int() || pass_through(&right))
        total += 1; //~ race A: write total
    pthread_mutex_unlock(&left);
    return NULL;
}

static void *right_first(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&right);
    if (__VERIFIER_nondet_int() || pass_through(&left))
        total += 2; //~ race A: write total
    pthread_mutex_unlock(&right);
    return NULL;
}

int main(void)
{
    pthread_t first, second;
    pthread_create(&first, NULL, left_first, NULL);
    pthread_create(&second, NULL, right_first, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
