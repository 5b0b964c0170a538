// The thread is created after pthread_once has returned: it needs no call of its own.
//@ check: race deadlock misuse safety
#include <pthread.h>

static int table, sum;
static pthread_once_t filled = PTHREAD_ONCE_INIT;

static void fill(void)
{
    table = 7; //~ no race: has ended before the reader is created
}

static void *filler(void *arg)
{
    (void)arg;
    pthread_once(&filled, fill);
    return NULL;
}

static void *reader(void *arg)
{
    (void)arg;
    sum = table; //~ no race: created after pthread_once
    return NULL;
}

int main(void)
{
    pthread_t first, second;
    pthread_create(&first, NULL, filler, NULL);
    pthread_once(&filled, fill);
    pthread_create(&second, NULL, reader, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return sum != 7;
}
