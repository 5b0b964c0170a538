// Look and take are one critical section.
//@ check: race deadlock misuse safety
//@ clean
#include <assert.h>
#include <pthread.h>

static int balance = 10;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *withdraw(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&lock);
    int enough = balance >= 10;
    if (enough)
        balance -= 10;
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, withdraw, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(balance == 0);
    return 0;
}
