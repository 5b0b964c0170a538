// A plain int as a flag: the flag itself is written and read at once, and it orders nothing, so the
// message races as well.
//@ check: race deadlock misuse safety
#include <pthread.h>
#include <stdatomic.h>

static int message, received;
static int ready;

static void *producer(void *arg)
{
    (void)arg;
    message = 42; //~ race A: write message
    ready = 1; //~ race B: write ready
    return NULL;
}

static void *consumer(void *arg)
{
    (void)arg;
    if (ready) //~ race B: read ready
        received = message; //~ race A: read message
    return NULL;
}

int main(void)
{
    pthread_t first, second;
    pthread_create(&first, NULL, producer, NULL);
    pthread_create(&second, NULL, consumer, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return received != 42 && received != 0;
}
