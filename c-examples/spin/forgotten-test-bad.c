// A home-made spin lock sets its flag but never looks at what it was: two owners get in.
//@ check: race deadlock misuse safety
#include <pthread.h>
#include <stdatomic.h>

static int total;
static atomic_flag taken = ATOMIC_FLAG_INIT;

static void *worker(void *arg)
{
    (void)arg;
    atomic_flag_test_and_set(&taken);
    total++; //~ race A: write total
    atomic_flag_clear(&taken);
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return total != 2;
}
