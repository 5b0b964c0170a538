// Two threads share a pthread spin lock; the second one unlocks before its addition.
//@ check: race deadlock misuse safety
#include <pthread.h>

static int total;
static pthread_spinlock_t lock;

static void *add_one(void *arg)
{
    (void)arg;
    pthread_spin_lock(&lock);
    total += 1; //~ race A: write total
    pthread_spin_unlock(&lock);
    return NULL;
}

static void *add_two(void *arg)
{
    (void)arg;
    pthread_spin_lock(&lock);
    pthread_spin_unlock(&lock);
    total += 2; //~ race A: write total
    return NULL;
}

int main(void)
{
    pthread_t first, second;
    pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
    pthread_create(&first, NULL, add_one, NULL);
    pthread_create(&second, NULL, add_two, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    pthread_spin_destroy(&lock);
    return total != 3;
}
