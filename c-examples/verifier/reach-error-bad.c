// The transfer is made in two atomic sections. main can look between them, finds money missing, and
// calls reach_error, which counts as a failed assertion.
//@ check: race deadlock misuse safety
#include <pthread.h>

extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
extern void reach_error(void);

static int checking = 10, savings;

static void *transfer(void *arg)
{
    (void)arg;
    __VERIFIER_atomic_begin();
    checking -= 10;
    __VERIFIER_atomic_end();
    __VERIFIER_atomic_begin();
    savings += 10;
    __VERIFIER_atomic_end();
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, transfer, NULL);
    __VERIFIER_atomic_begin();
    int sum = checking + savings;
    __VERIFIER_atomic_end();
    if (sum != 10)
        reach_error(); //~ assertion A: fault reach_error
    pthread_join(thread, NULL);
    return 0;
}
