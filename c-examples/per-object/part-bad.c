// The same, but the other thread writes into the array as well.
//@ check: race deadlock misuse safety
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct record {
    long before;
    char name[16];
    long after;
};

static struct record *record;

static void fill(char *to, const char *from)
{
    size_t size = strlen(from) + 1;
    memcpy(to, from, size < 16 ? size : 16); //~ race A: write
    for (char *at = to; *at; at++) //~ race C: read
        *at ^= 1; //~ race B: write
}

static void *worker(void *name)
{
    fill(record->name, name);
    return NULL;
}

int main(void)
{
    char name[] = "worker";
    pthread_t thread;
    record = calloc(1, sizeof *record);
    pthread_create(&thread, NULL, worker, name);
    record->before++; //~ no race
    record->name[2] = 'x'; //~ race A: write; race B: write; race C: write
    pthread_join(thread, NULL);
    return record->before != 1;
}
