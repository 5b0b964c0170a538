// Both threads hold a lock, but not the same one: two different locks exclude nobody.
//@ check: race deadlock misuse safety
#include <pthread.h>

static int total;
static pthread_mutex_t left = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t right = PTHREAD_MUTEX_INITIALIZER;

static void *add_left(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&left);
    total += 1; //~ race A: write total
    pthread_mutex_unlock(&left);
    return NULL;
}

static void *add_right(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&right);
    total += 2; //~ race A: write total
    pthread_mutex_unlock(&right);
    return NULL;
}

int main(void)
{
    pthread_t first, second;
    pthread_create(&first, NULL, add_left, NULL);
    pthread_create(&second, NULL, add_right, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return total != 3;
}
