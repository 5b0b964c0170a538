// mtx_trylock answers thrd_success or thrd_busy. Its answer is ignored, so the addition can run
// without the mutex. (The unlock without the mutex is a second mistake, not checked here.)
//@ check: race
#include <threads.h>

static int total;
static mtx_t lock;

static int worker(void *arg)
{
    (void)arg;
    mtx_trylock(&lock);
    total++; //~ race A: write total
    mtx_unlock(&lock);
    return 0;
}

int main(void)
{
    thrd_t first, second;
    mtx_init(&lock, mtx_plain);
    thrd_create(&first, worker, NULL);
    thrd_create(&second, worker, NULL);
    thrd_join(first, NULL);
    thrd_join(second, NULL);
    mtx_destroy(&lock);
    return 0;
}
