// Both threads go through call_once: the initialiser runs once, and both wait for it.
//@ check: race deadlock misuse safety
#include <threads.h>

static int table;
static once_flag filled = ONCE_FLAG_INIT;

static void fill(void)
{
    table++; //~ no race: runs once
}

static int worker(void *arg)
{
    (void)arg;
    call_once(&filled, fill);
    return 0;
}

int main(void)
{
    thrd_t first, second;
    thrd_create(&first, worker, NULL);
    thrd_create(&second, worker, NULL);
    thrd_join(first, NULL);
    thrd_join(second, NULL);
    return table < 1;
}
