// The addition runs only when mtx_trylock answered thrd_success.
//@ check: race deadlock misuse safety
#include <threads.h>

static int total;
static mtx_t lock;

static int worker(void *arg)
{
    (void)arg;
    if (mtx_trylock(&lock) != thrd_success)
        return 0;
    total++; //~ no race: reached only with the mutex
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
