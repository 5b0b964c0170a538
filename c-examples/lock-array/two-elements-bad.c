// Two elements of one lock array guard one variable: they are two locks, and exclude nobody.
//@ check: race deadlock misuse safety
#include <pthread.h>

static int total;
static pthread_mutex_t locks[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};

static void *add_one(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&locks[0]);
    total += 1; //~ race A: write total
    pthread_mutex_unlock(&locks[0]);
    return NULL;
}

static void *add_two(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&locks[1]);
    total += 2; //~ race A: write total
    pthread_mutex_unlock(&locks[1]);
    return NULL;
}

int main(void)
{
    pthread_t first, second;
    pthread_create(&first, NULL, add_one, NULL);
    pthread_create(&second, NULL, add_two, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return total != 3;
}
