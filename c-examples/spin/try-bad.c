// pthread_spin_trylock may fail, and nobody looks: the addition can run without the lock.
// (The unlock after a failed lock is a second mistake, outside the check asked for here.)
//@ check: race
#include <pthread.h>

static int total;
static pthread_spinlock_t lock;

static void *patient(void *arg)
{
    (void)arg;
    pthread_spin_lock(&lock);
    total += 1; //~ race A: write total
    pthread_spin_unlock(&lock);
    return NULL;
}

static void *hurried(void *arg)
{
    (void)arg;
    pthread_spin_trylock(&lock);
    total += 2; //~ race A: write total
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
