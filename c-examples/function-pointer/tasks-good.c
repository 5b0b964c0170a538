// A pool runs tasks (a function and its target). Each task has its own target.
//@ check: race deadlock misuse safety
//@ clean
#include <pthread.h>

struct task {
    void (*run)(int *);
    int *target;
};

static int left, right;

static void increment(int *target)
{
    *target += 1;
}

static void twice(int *target)
{
    *target *= 2;
}

static struct task tasks[2] = {{increment, &left}, {twice, &right}};

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
