// The loop that creates the threads fills in what the next one gets, while those before it work in their parts.
//@ check: race deadlock misuse safety
#include <pthread.h>
#include <stdio.h>

struct job {
    int number;
    long sum;
    char name[16];
    int done;
};

static struct job jobs[3];

static void prepare(struct job *job, int number)
{
    job->number = number; //~ no race: no thread has this part yet
    snprintf(job->name, sizeof job->name, "job %d", number);
}

static void *worker(void *arg)
{
    struct job *own = arg;
    own->sum += own->number; //~ no race
    own->done = 1;
    return NULL;
}

int main(void)
{
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) {
        prepare(&jobs[i], i);
        jobs[i].sum = i; //~ no race
        pthread_create(&threads[i], NULL, worker, &jobs[i]);
    }
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    printf("%s: %ld\n", jobs[2].name, jobs[2].sum);
    return 0;
}
