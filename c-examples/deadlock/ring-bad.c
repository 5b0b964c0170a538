// Three philosophers run the same code: each takes the fork on the left, then the one on the right.
// When all three hold their first fork, each waits for a neighbour for ever.
//@ check: race deadlock misuse safety
#include <pthread.h>

static int meals[3];
static pthread_mutex_t forks[3] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static int seats[3] = {0, 1, 2};

static void *philosopher(void *arg)
{
    int seat = *(int *)arg;
    int first = seat, second = (seat + 1) % 3;
    pthread_mutex_lock(&forks[first]);
    pthread_mutex_lock(&forks[second]); //~ deadlock A: acquire forks
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
