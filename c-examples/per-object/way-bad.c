// The entries that each thread sorts should lead to its own part of a table, but one of them leads to the first part.
//@ check: race deadlock misuse safety
#include <pthread.h>
#include <stdlib.h>

struct connection {
    long compared;
    int descending;
};

struct entry {
    struct connection *connection;
    int size;
};

static struct connection *all;

static int compare(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;
    a->connection->compared++; //~ race A: write a->connection->compared
    return a->connection->descending ? b->size - a->size : a->size - b->size;
}

static void *worker(void *arg)
{
    struct connection *own = arg;
    struct entry *entries = calloc(2, sizeof *entries);
    if (!entries)
        return NULL;
    for (int i = 0; i < 2; i++) {
        entries[i].connection = i ? own : all;
        entries[i].size = 7 - i;
    }
    qsort(entries, 2, sizeof *entries, compare);
    free(entries);
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    all = calloc(2, sizeof *all);
    all[1].descending = 1;
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, worker, &all[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    free(all);
    return 0;
}
