// Both threads take the two locks in the same order.
//@ check: race deadlock misuse safety
//@ clean
#include <pthread.h>

static int total;
static pthread_mutex_t left = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t right = PTHREAD_MUTEX_INITIALIZER;

static void *deposit(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&left);
    pthread_mutex_lock(&right);
    total += 10;
    pthread_mutex_unlock(&right);
    pthread_mutex_unlock(&left);
    return NULL;
}

static void *withdraw(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&left);
    pthread_mutex_lock(&right);
    total -= 3;
    pthread_mutex_unlock(&left);
    pthread_mutex_unlock(&right);
    return NULL;
}

int main(void)
{
    pthread_t first, second;
    pthread_create(&first, NULL, deposit, NULL);
    pthread_create(&second, NULL, withdraw, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return total != 7;
}
