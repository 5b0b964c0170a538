// `ready` is set and signalled without the lock: both can fall between the waiter's look at
// `ready` and its wait. The signal meets nobody, and the waiter sleeps for ever.
//@ check: race deadlock misuse safety
#include <pthread.h>
#include <stdatomic.h>

static atomic_int ready;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void *waiter(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&lock);
    if (!ready)
        pthread_cond_wait(&changed, &lock); //~ deadlock A: wait changed
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *waker(void *arg)
{
    (void)arg;
    ready = 1;
    pthread_cond_signal(&changed);
    return NULL;
}

int main(void)
{
    pthread_t first, second;
    pthread_create(&first, NULL, waiter, NULL);
    pthread_create(&second, NULL, waker, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
