// A function whose name begins with __VERIFIER_atomic_ runs as one step, and every addition uses it.
//@ check: race deadlock misuse safety
#include <pthread.h>

static int total;

static void __VERIFIER_atomic_add(int amount)
{
    total += amount; //~ no race: the whole function is one atomic step
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
    __VERIFIER_atomic_add(2);
    pthread_join(thread, NULL);
    return total != 3;
}
