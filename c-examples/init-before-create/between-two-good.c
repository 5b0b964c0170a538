// main fills the table before either thread is started.
//@ check: race deadlock misuse safety
#include <pthread.h>

static int table, seen[2];
static int ids[2] = {0, 1};

static void *reader(void *arg)
{
    int me = *(int *)arg;
    seen[me] = table; //~ no race: filled before either thread existed
    return NULL;
}

int main(void)
{
    pthread_t first, second;
    table = 7; //~ no race: before both creations
    pthread_create(&first, NULL, reader, &ids[0]);
    pthread_create(&second, NULL, reader, &ids[1]);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return seen[1] != 7;
}
