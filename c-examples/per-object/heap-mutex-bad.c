// Every account has its own mutex. The fee is taken from `to` under the mutex of `from`.
//@ check: race deadlock misuse safety
#include <pthread.h>
#include <stdlib.h>

struct account {
    pthread_mutex_t lock;
    int balance;
};

static struct account *open_account(void)
{
    struct account *acct = malloc(sizeof *acct);
    pthread_mutex_init(&acct->lock, NULL);
    acct->balance = 100;
    return acct;
}

static void *deposit(void *arg)
{
    struct account *acct = arg;
    pthread_mutex_lock(&acct->lock);
    acct->balance += 10; //~ race A: write acct->balance
    pthread_mutex_unlock(&acct->lock);
    return NULL;
}

int main(void)
{
    pthread_t first, second;
    struct account *from = open_account(), *to = open_account();
    pthread_create(&first, NULL, deposit, from);
    pthread_create(&second, NULL, deposit, to);
    pthread_mutex_lock(&from->lock);
    to->balance -= 1; //~ race A: write to->balance
    pthread_mutex_unlock(&from->lock);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return from->balance + to->balance != 219;
}
