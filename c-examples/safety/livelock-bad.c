// Each thread raises its hand and waits until the other's hand is down. Both raise, both wait.
//@ check: race deadlock misuse safety
#include <pthread.h>
#include <stdatomic.h>

static int total;
static atomic_int first_wants, second_wants;

static void *first_thread(void *arg)
{
    (void)arg;
    atomic_store(&first_wants, 1);
    while (atomic_load(&second_wants)) //~ livelock A: wait second_wants
        ;
    total += 1; //~ no race: never both inside
    atomic_store(&first_wants, 0);
    return NULL;
}

static void *second_thread(void *arg)
{
    (void)arg;
    atomic_store(&second_wants, 1);
    while (atomic_load(&first_wants)) //~ livelock A: wait first_wants
        ;
    total += 2; //~ no race: never both inside
    atomic_store(&second_wants, 0);
    return NULL;
}

int main(void)
{
    pthread_t first, second;
    pthread_create(&first, NULL, first_thread, NULL);
    pthread_create(&second, NULL, second_thread, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return total < 1;
}
