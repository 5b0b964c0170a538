// Two walkers lock a chain hand over hand, one from each end: they meet in the middle, each holding
// the node that the other wants next.
//@ check: race deadlock misuse safety
#include <pthread.h>

static int value[3];
static pthread_mutex_t node[3] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};

static void *upward(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&node[0]);
    for (int i = 0; i < 2; i++) {
        value[i]++;
        pthread_mutex_lock(&node[i + 1]); //~ deadlock A: acquire node
        pthread_mutex_unlock(&node[i]);
    }
    pthread_mutex_unlock(&node[2]);
    return NULL;
}

static void *downward(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&node[2]);
    for (int i = 2; i > 0; i--) {
        value[i]++;
        pthread_mutex_lock(&node[i - 1]); //~ deadlock A: acquire node
        pthread_mutex_unlock(&node[i]);
    }
    pthread_mutex_unlock(&node[0]);
    return NULL;
}

int main(void)
{
    pthread_t first, second;
    pthread_create(&first, NULL, upward, NULL);
    pthread_create(&second, NULL, downward, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
