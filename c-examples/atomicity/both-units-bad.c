// The audit reads balance and count in one unit of work, but gives the lock back in between. A deposit
// there changes both: the audit has seen the old balance and the new count, which no serial order shows.
//@ check: atomicity
#include <pthread.h>

static int balance, count, seen;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void deposit(int times, int amount)
{
    pthread_mutex_lock(&lock);
    if (times)
        count = times; //~ unserializable A: write count
    if (amount)
        balance = amount; //~ unserializable A: write balance
    pthread_mutex_unlock(&lock);
}

static void audit(void)
{
    pthread_mutex_lock(&lock);
    seen = balance; //~ unserializable A: read balance
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    seen += count; //~ unserializable A: read count
    pthread_mutex_unlock(&lock);
}

static void *depositor(void *arg)
{
    (void)arg;
    deposit(1, 10);
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
