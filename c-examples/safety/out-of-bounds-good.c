// Each thread takes a number first, in one step, and writes only if the number is a slot.
//@ check: race deadlock misuse safety
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static int *slots;
static atomic_int used;

static void *worker(void *arg)
{
    (void)arg;
    int mine = atomic_fetch_add(&used, 1);
    if (mine < 2)
        slots[mine] = 1; //~ no race: each thread has another number
    return NULL;
}

int main(void)
{
    pthread_t threads[3];
    slots = calloc(2, sizeof *slots);
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    int sum = slots[0] + slots[1];
    free(slots);
    return sum != 2;
}
