// The winner of the swap, and nobody else, writes the slot.
//@ check: race deadlock misuse safety
#include <pthread.h>

static int taken, slot;

static void *worker(void *arg)
{
    (void)arg;
    if (!__sync_bool_compare_and_swap(&taken, 0, 1))
        return NULL;
    slot++; //~ no race: one thread wins the swap
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return slot < 1;
}
