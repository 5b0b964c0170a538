// Each thread fills an array in its own part of a table, by a helper that walks through whatever array it is given.
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

static int parse(const char *text, struct header *to)
{
    int n = 0;
    for (; n < 4 && *text; n++) {
        int length = 0;
        to[n].name = text; //~ no race: in the thread's own part
        while (*text && *text++ != ' ')
            length++;
        to[n].length = length; //~ no race
    }
    return n;
}

static void *worker(void *arg)
{
    struct request *own = arg;
    struct header local[4];
    return (void *)(long)(parse("", local) + parse("one two", own->headers));
}

int main(void)
{
    pthread_t threads[2];
    struct request *all = calloc(2, sizeof *all);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, worker, &all[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    free(all);
    return 0;
}
