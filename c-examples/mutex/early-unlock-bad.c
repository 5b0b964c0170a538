// The lock is released one line too early: the addition itself runs without it.
//@ check: race deadlock misuse safety
#include <pthread.h>

static int started, finished;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&lock);
    started++;
    pthread_mutex_unlock(&lock);
    finished++; //~ race A: write finished
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return started + finished != 4;
}
