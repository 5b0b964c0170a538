// The second thread asks for its second lock with trylock and backs off when it is taken:
// the order is still inverted, but nobody waits while holding, so there is no deadlock.
//@ check: race deadlock misuse safety
#include <pthread.h>

static int total;
static pthread_mutex_t left = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t right = PTHREAD_MUTEX_INITIALIZER;

static void *forward(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&left);
    pthread_mutex_lock(&right); //~ no deadlock: the other thread never waits for left
    total++;
    pthread_mutex_unlock(&right);
    pthread_mutex_unlock(&left);
    return NULL;
}

static void *backward(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&right);
    if (pthread_mutex_trylock(&left) != 0) { //~ no deadlock: gives up instead of waiting
        pthread_mutex_unlock(&right);
        return NULL;
    }
    total++;
    pthread_mutex_unlock(&left);
    pthread_mutex_unlock(&right);
    return NULL;
}

int main(void)
{
    pthread_t first, second;
    pthread_create(&first, NULL, forward, NULL);
    pthread_create(&second, NULL, backward, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
