// Compare-and-exchange looks and sets in one step: one thread gets the slot.
//@ check: race deadlock misuse safety
#include <pthread.h>
#include <stdatomic.h>

static int slot;
static atomic_int taken;

static void *worker(void *arg)
{
    int expected = 0;
    (void)arg;
    if (atomic_compare_exchange_strong(&taken, &expected, 1)) {
        atomic_store(&taken, 1);
        slot++; //~ no race: one thread wins the exchange
    }
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
