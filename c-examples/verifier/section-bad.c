// One thread adds inside an atomic section, the other outside of any.
//@ check: race deadlock misuse safety
#include <pthread.h>

extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);

static int total;

static void *add_one(void *arg)
{
    (void)arg;
    __VERIFIER_atomic_begin();
    total += 1; //~ race A: write total
    __VERIFIER_atomic_end();
    return NULL;
}

static void *add_two(void *arg)
{
    (void)arg;
    total += 2; //~ race A: write total
    return NULL;
}

int main(void)
{
    pthread_t first, second;
    pthread_create(&first, NULL, add_one, NULL);
    pthread_create(&second, NULL, add_two, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return total != 3;
}
