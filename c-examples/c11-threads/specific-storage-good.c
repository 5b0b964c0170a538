// Each thread stores the address of its own variable under the key: nothing is shared.
//@ check: race deadlock misuse safety
#include <threads.h>

static int shared;
static tss_t slot;

static int worker(void *arg)
{
    int own = 0;
    (void)arg;
    tss_set(slot, &own);
    *(int *)tss_get(slot) += 1; //~ no race: each thread has its own
    return own;
}

int main(void)
{
    thrd_t first, second;
    tss_create(&slot, NULL);
    thrd_create(&first, worker, NULL);
    thrd_create(&second, worker, NULL);
    thrd_join(first, NULL);
    thrd_join(second, NULL);
    tss_delete(slot);
    return shared > 2;
}
