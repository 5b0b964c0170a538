// Every account has its own mutex, and each balance changes under the mutex of its own account.
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
    acct->balance += 10; //~ no race: each account has its own lock
    pthread_mutex_unlock(&acct->lock);
    return NULL;
}

int main(void)
{
    pthread_t first, second;
    struct account *from = open_account(), *to = open_account();
    pthread_create(&first, NULL, deposit, from);
    pthread_create(&second, NULL, deposit, to);
    pthread_mutex_lock(&to->lock);
    to->balance -= 1;
    pthread_mutex_unlock(&to->lock);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return from->balance + to->balance != 219;
}
