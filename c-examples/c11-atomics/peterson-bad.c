// Peterson's lock with release and acquire only: each thread's load of the other's flag may overtake
// its own stores, so both can get in. No interleaving of whole steps shows it; the hardware does.
//@ check: race deadlock misuse safety
#include <pthread.h>
#include <stdatomic.h>

#define STORE memory_order_release
#define LOAD memory_order_acquire

static int total;
static atomic_int wants[2], turn;
static int ids[2] = {0, 1};

static void *worker(void *arg)
{
    int me = *(int *)arg, other = 1 - me;
    atomic_store_explicit(&wants[me], 1, STORE);
    atomic_store_explicit(&turn, other, STORE);
    while (atomic_load_explicit(&wants[other], LOAD) && atomic_load_explicit(&turn, LOAD) == other)
        ;
    total++; //~ race A, unconfirmed: write total
    atomic_store_explicit(&wants[me], 0, STORE);
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, worker, &ids[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return total > 2;
}
