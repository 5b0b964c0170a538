// Each thread gets the address of a number that nobody changes.
//@ check: race deadlock misuse safety
//@ clean
#include <pthread.h>

static int seen[3];

static void *worker(void *arg)
{
    int me = *(int *)arg;
    __atomic_fetch_add(&seen[me % 3], 1, __ATOMIC_RELAXED);
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    int numbers[2] = {0, 1};
    int i;
    for (i = 0; i < 2; i++)
        pthread_create(&threads[numbers[i]], NULL, worker, &numbers[i]);
    for (int j = 0; j < 2; j++)
        pthread_join(threads[j], NULL);
    return seen[0] + seen[1] + seen[2] != 2;
}
