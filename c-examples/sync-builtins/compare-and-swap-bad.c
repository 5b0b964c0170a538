// The swap's answer is ignored: the loser writes the slot as well.
//@ check: race deadlock misuse safety
#include <pthread.h>

static int taken, slot;

static void *worker(void *arg)
{
    (void)arg;
    __sync_bool_compare_and_swap(&taken, 0, 1);
    slot++; //~ race A: write slot
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
