// A worker takes the job out of the queue under the lock; from then on the job is its own.
//@ check: race deadlock misuse safety
#include <pthread.h>

struct job {
    int cost;
};

static struct job only_job = {1};
static struct job *queue = &only_job;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&lock);
    struct job *mine = queue;
    queue = NULL;
    pthread_mutex_unlock(&lock);
    if (mine)
        mine->cost *= 2; //~ no race: one worker got the job
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return only_job.cost < 2;
}
