// Three philosophers; each takes the fork with the smaller number first. No circle can close.
//@ check: race deadlock misuse safety
#include <pthread.h>

static int meals[3];
static pthread_mutex_t forks[3] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static int seats[3] = {0, 1, 2};

static void *philosopher(void *arg)
{
    int seat = *(int *)arg;
    int first = seat, second = (seat + 1) % 3;
    if (first > second)
        first = second, second = seat;
    pthread_mutex_lock(&forks[first]);
    pthread_mutex_lock(&forks[second]); //~ no deadlock: forks are taken in the order of their numbers
    meals[seat]++;
    pthread_mutex_unlock(&forks[second]);
    pthread_mutex_unlock(&forks[first]);
    return NULL;
}

int main(void)
{
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, philosopher, &seats[i]);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return meals[0] + meals[1] + meals[2] != 3;
}
