// Two threads hold the pthread spin lock around their additions.
//@ check: race deadlock misuse safety
//@ clean
#include <pthread.h>

static int total;
static pthread_spinlock_t lock;

static void *add_one(void *arg)
{
    (void)arg;
    pthread_spin_lock(&lock);
    total += 1;
    pthread_spin_unlock(&lock);
    return NULL;
}

static void *add_two(void *arg)
{
    (void)arg;
    pthread_spin_lock(&lock);
    total += 2;
    pthread_spin_unlock(&lock);
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
