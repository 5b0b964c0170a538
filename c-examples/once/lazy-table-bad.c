// Every thread fills the table "to be sure": the fillings race with each other and with the readers.
//@ check: race deadlock misuse safety
#include <pthread.h>

static int table, sum[2];
static int ids[2] = {0, 1};
static pthread_once_t filled = PTHREAD_ONCE_INIT;

static void fill(void)
{
    table = 7; //~ race A: write table; race B: write table
}

static void *worker(void *arg)
{
    int me = *(int *)arg;
    fill();
    sum[me] = table + me; //~ race B: read table
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    pthread_once(&filled, fill);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, worker, &ids[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return sum[0] + sum[1] != 15;
}
