// The input picks the slot, and nothing keeps it inside the array.
//@ check: safety
#include <pthread.h>

extern int __VERIFIER_nondet_int(void);
extern void __VERIFIER_assume(int);

static int slots[2];

static void *worker(void *arg)
{
    (void)arg;
    int index = __VERIFIER_nondet_int();
    __VERIFIER_assume(index >= 0 && index <= 2);
    slots[index] = 1; //~ out-of-bounds A: write slots
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    pthread_join(thread, NULL);
    return 0;
}
