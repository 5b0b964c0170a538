// enter() and leave() lock what they are given; one caller gives them the wrong lock.
//@ check: race deadlock misuse safety
#include <pthread.h>

static int apples, pears;
static pthread_mutex_t apple_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t pear_lock = PTHREAD_MUTEX_INITIALIZER;

static void enter(pthread_mutex_t *lock)
{
    pthread_mutex_lock(lock);
}

static void leave(pthread_mutex_t *lock)
{
    pthread_mutex_unlock(lock);
}

static void *grocer(void *arg)
{
    (void)arg;
    enter(&apple_lock);
    apples++; //~ no race: both callers hold apple_lock
    leave(&apple_lock);
    enter(&pear_lock);
    pears++; //~ race A: write pears
    leave(&pear_lock);
    return NULL;
}

static void *farmer(void *arg)
{
    (void)arg;
    enter(&apple_lock);
    apples++; //~ no race: both callers hold apple_lock
    pears++; //~ race A: write pears
    leave(&apple_lock);
    return NULL;
}

int main(void)
{
    pthread_t first, second;
    pthread_create(&first, NULL, grocer, NULL);
    pthread_create(&second, NULL, farmer, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return apples + pears != 4;
}
