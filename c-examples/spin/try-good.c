// Only a thread that got the spin lock adds.
//@ check: race deadlock misuse safety
#include <pthread.h>

static int total;
static pthread_spinlock_t lock;

static void *patient(void *arg)
{
    (void)arg;
    pthread_spin_lock(&lock);
    total += 1;
    pthread_spin_unlock(&lock);
    return NULL;
}

static void *hurried(void *arg)
{
    (void)arg;
    if (pthread_spin_trylock(&lock) != 0)
        return NULL;
    total += 2; //~ no race: reached only with the lock
    pthread_spin_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t first, second;
    pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
    pthread_create(&first, NULL, patient, NULL);
    pthread_create(&second, NULL, hurried, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return total > 3;
}
