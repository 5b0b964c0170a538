// Two threads use two different once controls for one initialiser: it runs twice, and the runs race.
//@ check: race deadlock misuse safety
#include <pthread.h>

static int table;
static pthread_once_t filled = PTHREAD_ONCE_INIT;
static pthread_once_t checked = PTHREAD_ONCE_INIT;

static void fill(void)
{
    table++; //~ race A: write table
}

static void check(void)
{
}

static void *reader(void *arg)
{
    (void)arg;
    pthread_once(&filled, fill);
    return NULL;
}

static void *checker(void *arg)
{
    (void)arg;
    pthread_once(&checked, fill);
    pthread_once(&checked, check);
    return NULL;
}

int main(void)
{
    pthread_t first, second;
    pthread_create(&first, NULL, reader, NULL);
    pthread_create(&second, NULL, checker, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
