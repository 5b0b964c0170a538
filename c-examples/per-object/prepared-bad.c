// The loop that creates the threads writes to what the new thread got, when that is running already.
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
    job->number = number; //~ race A: write jobs[0].number
    snprintf(job->name, sizeof job->name, "job %d", number);
}

static void *worker(void *arg)
{
    struct job *own = arg;
    own->sum += own->number; //~ race A: read jobs[0].number
    own->done = 1;
    return NULL;
}

int main(void)
{
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) {
        jobs[i].sum = i; //~ no race
        pthread_create(&threads[i], NULL, worker, &jobs[i]);
        prepare(&jobs[i], i);
    }
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    printf("%s: %ld\n", jobs[2].name, jobs[2].sum);
    return 0;
}
