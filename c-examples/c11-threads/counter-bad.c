// C11 threads and a C11 mutex; main adds without taking the mutex.
//@ check: race deadlock misuse safety
#include <threads.h>

static int total;
static mtx_t lock;

static int worker(void *arg)
{
    (void)arg;
    mtx_lock(&lock);
    total += 1; //~ race A: write total
    mtx_unlock(&lock);
    return 0;
}

int main(void)
{
    thrd_t thread;
    mtx_init(&lock, mtx_plain);
    thrd_create(&thread, worker, NULL);
    total += 2; //~ race A: write total
    thrd_join(thread, NULL);
    mtx_destroy(&lock);
    return total != 3;
}
