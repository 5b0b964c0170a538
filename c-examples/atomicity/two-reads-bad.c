// The audit is one unit of work, but it gives the lock back between its two readings of the balance:
// a deposit in between makes the two differ, which no serial order of the units does.
//@ check: atomicity
#include <pthread.h>

static int balance, count, differs;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void deposit(void)
{
    pthread_mutex_lock(&lock);
    balance += 10; //~ unserializable A: write balance
    count += 1;
    pthread_mutex_unlock(&lock);
}

static void audit(void)
{
    pthread_mutex_lock(&lock);
    int before = balance; //~ unserializable A: read balance
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    int after = balance; //~ unserializable A: read balance
    pthread_mutex_unlock(&lock);
    differs = before != after;
}

static void *depositor(void *arg)
{
    (void)arg;
    deposit();
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
    return count != 1 || differs > 1;
}
