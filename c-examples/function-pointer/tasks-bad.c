// A pool runs tasks (a function and its target). Two tasks have the same target.
//@ check: race deadlock misuse safety
#include <pthread.h>

struct task {
    void (*run)(int *);
    int *target;
};

static int left, right;

static void increment(int *target)
{
    *target += 1; //~ race A: write left
}

static void twice(int *target)
{
    *target *= 2; //~ race A: write left
}

static struct task tasks[2] = {{increment, &left}, {twice, &left}};

static void *pool_thread(void *arg)
{
    struct task *task = arg;
    task->run(task->target);
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, pool_thread, &tasks[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return left + right > 2;
}
