// Count and balance are changed by two units of work, the count first. Whatever the audit reads, some
// serial order of the three units explains it: no violation, although the lock is given back.
//@ check: atomicity
#include <pthread.h>

static int balance, count, seen;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void deposit(int times, int amount)
{
    pthread_mutex_lock(&lock);
    if (times)
        count = times; //~ no unserializable: a unit of its own
    if (amount)
        balance = amount; //~ no unserializable: a unit of its own
    pthread_mutex_unlock(&lock);
}

static void audit(void)
{
    pthread_mutex_lock(&lock);
    seen = balance;
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    seen += count;
    pthread_mutex_unlock(&lock);
}

static void *depositor(void *arg)
{
    (void)arg;
    deposit(1, 0);
    deposit(0, 10);
    return NULL;
}

static void *auditor(void *arg)
{
    (void)arg;
    audit();
    return NULL;
}

int main(void)
{
    pthread_t first, second;
    pthread_create(&first, NULL, depositor, NULL);
    pthread_create(&second, NULL, auditor, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return seen > 11;
}
