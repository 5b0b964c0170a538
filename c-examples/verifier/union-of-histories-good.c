// Each thread has *always* passed through the other's lock while it held its own: then one of
// them is past its write before the other gets there.
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
    if (pass_through(&right) && __VERIFIER_nondet_int())
        total += 1; //~ no race: neither lock is held in common, the histories exclude it
    pthread_mutex_unlock(&left);
    return NULL;
}

static void *right_first(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&right);
    if (pass_through(&left) && __VERIFIER_nondet_int())
        total += 2; //~ no race: neither lock is held in common, the histories exclude it
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
