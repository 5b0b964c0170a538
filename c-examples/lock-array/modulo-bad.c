// Eight values share four locks; the lock is chosen by the number of the *job*, not of the value.
// Two jobs on one value can hold two different locks.
//@ check: race deadlock misuse safety
#include <pthread.h>

struct job {
    int number, index;
};

static int data[8];
static pthread_mutex_t locks[4] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
                                   PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static struct job jobs[3] = {{0, 1}, {1, 5}, {2, 1}};

static void *run(void *arg)
{
    struct job *job = arg;
    pthread_mutex_t *lock = &locks[job->number % 4];
    pthread_mutex_lock(lock);
    data[job->index]++; //~ race A: write data
    pthread_mutex_unlock(lock);
    return NULL;
}

int main(void)
{
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, run, &jobs[i]);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return data[1] != 2 || data[5] != 1;
}
