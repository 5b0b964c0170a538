// Three threads look for room and then take a slot of two; between the look and the taking the
// room can vanish, and the third writes past the end.
//@ check: race deadlock misuse safety
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static int *slots;
static atomic_int used;

static void *worker(void *arg)
{
    (void)arg;
    if (atomic_load(&used) < 2)
        slots[atomic_fetch_add(&used, 1)] = 1; //~ out-of-bounds A: write slots
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
