// The routine of a one-time initialisation asks for that initialisation, and waits for its own end.
//@ check: race deadlock misuse safety
#include <pthread.h>

static int table;
static pthread_once_t filled = PTHREAD_ONCE_INIT;
static pthread_once_t cleared = PTHREAD_ONCE_INIT;

static void fill(void);

static void clear(void)
{
    table = 0;
}

static int look(void)
{
    pthread_once(&cleared, clear);
    pthread_once(&filled, fill); //~ deadlock A: wait filled
    return table;
}

static void fill(void)
{
    table = look() + 1;
}

int main(void)
{
    pthread_once(&filled, fill);
    return table != 1;
}
