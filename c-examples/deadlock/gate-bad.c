// The order of left and right is inverted, and only one of the two threads passes the gate first:
// the gate keeps nobody apart.
//@ check: race deadlock misuse safety
#include <pthread.h>

static int total;
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t left = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t right = PTHREAD_MUTEX_INITIALIZER;

static void *forward(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&gate);
    pthread_mutex_lock(&left);
    pthread_mutex_lock(&right); //~ deadlock A: acquire right
    total++;
    pthread_mutex_unlock(&right);
    pthread_mutex_unlock(&left);
    pthread_mutex_unlock(&gate);
    return NULL;
}

static void *backward(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&right);
    pthread_mutex_lock(&left); //~ deadlock A: acquire left
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
    return total != 2;
}
