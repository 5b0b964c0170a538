// One thread fills an array inside a structure, through pointers into it and by as many bytes as there are; the other works on the members beside it.
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
    memcpy(to, from, size < 16 ? size : 16); //~ no race: in the array
    for (char *at = to; *at; at++)
        *at ^= 1; //~ no race: in the array
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
    record->after++; //~ no race
    pthread_join(thread, NULL);
    return record->before + record->after != 2;
}
