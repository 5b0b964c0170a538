// A function whose name begins with __VERIFIER_atomic_ runs as one step; main's own addition does not.
//@ check: race deadlock misuse safety
#include <pthread.h>

static int total;

static void __VERIFIER_atomic_add(int amount)
{
    total += amount; //~ race A: write total
}

static void *worker(void *arg)
{
    (void)arg;
    __VERIFIER_atomic_add(1);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    total += 2; //~ race A: write total
    pthread_join(thread, NULL);
    return total != 3;
}
