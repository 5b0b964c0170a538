// C11 threads and a C11 mutex around every addition.
//@ check: race deadlock misuse safety
//@ clean
#include <threads.h>

static int total;
static mtx_t lock;

static int worker(void *arg)
{
    (void)arg;
    mtx_lock(&lock);
    total += 1;
    mtx_unlock(&lock);
    return 0;
}

int main(void)
{
    thrd_t thread;
    mtx_init(&lock, mtx_plain);
    thrd_create(&thread, worker, NULL);
    mtx_lock(&lock);
    total += 2;
    mtx_unlock(&lock);
    thrd_join(thread, NULL);
    mtx_destroy(&lock);
    return total != 3;
}
