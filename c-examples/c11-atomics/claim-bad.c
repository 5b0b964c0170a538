// Look, then set: both threads can find the slot free before either marks it taken.
//@ check: race deadlock misuse safety
#include <pthread.h>
#include <stdatomic.h>

static int slot;
static atomic_int taken;

static void *worker(void *arg)
{
    int expected = 0;
    (void)arg;
    if (atomic_load(&taken) == expected) {
        atomic_store(&taken, 1);
        slot++; //~ race A: write slot
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
