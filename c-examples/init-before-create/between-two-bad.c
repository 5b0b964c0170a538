// main fills the table after the first thread was started, before the second: the first one races.
//@ check: race deadlock misuse safety
#include <pthread.h>

static int table, seen[2];
static int ids[2] = {0, 1};

static void *reader(void *arg)
{
    int me = *(int *)arg;
    seen[me] = table; //~ race A: read table
    return NULL;
}

int main(void)
{
    pthread_t first, second;
    pthread_create(&first, NULL, reader, &ids[0]);
    table = 7; //~ race A: write table
    pthread_create(&second, NULL, reader, &ids[1]);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return seen[1] != 7;
}
