// Each thread gets the *address* of main's loop variable and reads it while main counts on.
//@ check: race deadlock misuse safety
#include <pthread.h>

static int seen[3];

static void *worker(void *arg)
{
    int me = *(int *)arg; //~ race A: read i
    __atomic_fetch_add(&seen[me % 3], 1, __ATOMIC_RELAXED);
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    int numbers[2] = {0, 1};
    int i;
    for (i = 0; i < 2; i++) //~ race A: write i
        pthread_create(&threads[numbers[i]], NULL, worker, &i);
    for (int j = 0; j < 2; j++)
        pthread_join(threads[j], NULL);
    return seen[0] + seen[1] + seen[2] != 2;
}
