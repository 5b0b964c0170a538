// Both threads add inside an atomic section: the sections behave as one global lock.
//@ check: race deadlock misuse safety
//@ clean
#include <pthread.h>

extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);

static int total;

static void *add_one(void *arg)
{
    (void)arg;
    __VERIFIER_atomic_begin();
    total += 1;
    __VERIFIER_atomic_end();
    return NULL;
}

static void *add_two(void *arg)
{
    (void)arg;
    __VERIFIER_atomic_begin();
    total += 2;
    __VERIFIER_atomic_end();
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
