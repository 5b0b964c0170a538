// Each thread has its own part of a table, but all of them fill the array in the first one.
//@ check: race deadlock misuse safety
#include <pthread.h>
#include <stdlib.h>

struct header {
    const char *name;
    int length;
};

struct request {
    long number;
    struct header headers[4];
    int state;
};

static struct request *all;

static int parse(const char *text, struct header *to)
{
    int n = 0;
    for (; n < 4 && *text; n++) {
        int length = 0;
        to[n].name = text; //~ race A: write to[n].name
        while (*text && *text++ != ' ')
            length++;
        to[n].length = length; //~ race B: write to[n].length
    }
    return n;
}

static void *worker(void *arg)
{
    struct request *own = arg;
    struct header local[4];
    return (void *)(long)(parse("", local) + parse("one two", all->headers) + (int)own->number);
}

int main(void)
{
    pthread_t threads[2];
    all = calloc(2, sizeof *all);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, worker, &all[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    free(all);
    return 0;
}
