// Both threads call the initialiser themselves.
//@ check: race deadlock misuse safety
#include <threads.h>

static int table;
static once_flag filled = ONCE_FLAG_INIT;

static void fill(void)
{
    table++; //~ race A: write table
}

static int worker(void *arg)
{
    (void)arg;
    fill();
    return 0;
}

int main(void)
{
    thrd_t first, second;
    call_once(&filled, fill);
    thrd_create(&first, worker, NULL);
    thrd_create(&second, worker, NULL);
    thrd_join(first, NULL);
    thrd_join(second, NULL);
    return table < 1;
}
