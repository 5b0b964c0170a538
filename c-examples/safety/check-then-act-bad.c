// Look and take are two critical sections: both threads can find enough money for one withdrawal.
//@ check: race deadlock misuse safety
#include <assert.h>
#include <pthread.h>

static int balance = 10;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *withdraw(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&lock);
    int enough = balance >= 10;
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
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
    assert(balance == 0); //~ assertion A: fault balance
    return 0;
}
