// The producer writes the message, then sets `ready` under the mutex.
//@ check: race deadlock misuse safety
#include <threads.h>

static int message, ready, received;
static mtx_t lock;
static cnd_t changed;

static int producer(void *arg)
{
    (void)arg;
    message = 42; //~ no race: before `ready` is set under the mutex
    mtx_lock(&lock);
    ready = 1;
    cnd_signal(&changed);
    mtx_unlock(&lock);
    return 0;
}

int main(void)
{
    thrd_t thread;
    mtx_init(&lock, mtx_plain);
    cnd_init(&changed);
    thrd_create(&thread, producer, NULL);
    mtx_lock(&lock);
    while (!ready)
        cnd_wait(&changed, &lock);
    mtx_unlock(&lock);
    received = message; //~ no race: after `ready` was seen under the mutex
    thrd_join(thread, NULL);
    return received != 42;
}
