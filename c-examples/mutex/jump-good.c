// The error path jumps back with the lock held, and releases it there.
//@ check: race
#include <pthread.h>
#include <setjmp.h>

static int balance;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *depositor(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&lock);
    balance += 5; //~ no race
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void withdraw(jmp_buf *failed, int amount)
{
    pthread_mutex_lock(&lock);
    if (balance < amount)
        longjmp(*failed, 1);
    balance -= amount; //~ no race
    pthread_mutex_unlock(&lock);
}

int main(void)
{
    pthread_t thread;
    jmp_buf failed;
    pthread_create(&thread, NULL, depositor, NULL);
    if (setjmp(failed) == 0) {
        withdraw(&failed, 10);
    } else {
        balance = 0; //~ no race: withdraw has jumped with the lock
        pthread_mutex_unlock(&lock);
    }
    pthread_join(thread, NULL);
    return 0;
}
