// Both threads store the address of one shared variable under their key: it is not theirs alone.
//@ check: race deadlock misuse safety
#include <threads.h>

static int shared;
static tss_t slot;

static int worker(void *arg)
{
    int own = 0;
    (void)arg;
    tss_set(slot, &shared);
    *(int *)tss_get(slot) += 1; //~ race A: write shared
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
