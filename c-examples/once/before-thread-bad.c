// The reader is created before pthread_once is called: the table may be filled while it reads.
//@ check: race deadlock misuse safety
#include <pthread.h>

static int table, sum;
static pthread_once_t filled = PTHREAD_ONCE_INIT;

static void fill(void)
{
    table = 7; //~ race A: write table
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
    sum = table; //~ race A: read table
    return NULL;
}

int main(void)
{
    pthread_t first, second;
    pthread_create(&first, NULL, filler, NULL);
    pthread_create(&second, NULL, reader, NULL);
    pthread_once(&filled, fill);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return sum != 7 && sum != 0;
}
