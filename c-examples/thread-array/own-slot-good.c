// Every thread of the array writes its own slot, and main reads them after the joins.
//@ check: race deadlock misuse safety
#include <pthread.h>
#include <stdint.h>

static int slots[3];

static void *worker(void *arg)
{
    int me = (int)(intptr_t)arg;
    slots[me] += me; //~ no race: a slot each
    return NULL;
}

int main(void)
{
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, worker, (void *)(intptr_t)i);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return slots[0] + slots[1] + slots[2] > 3;
}
