// Each thread lists what is in its own part of a table: the entries lead back to the part, and are sorted by what they find there.
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
    a->connection->compared++; //~ no race: each thread's entries lead to its own connection
    return a->connection->descending ? b->size - a->size : a->size - b->size;
}

static void *worker(void *arg)
{
    struct connection *own = arg;
    struct entry *entries = calloc(2, sizeof *entries);
    if (!entries)
        return NULL;
    for (int i = 0; i < 2; i++) {
        entries[i].connection = own;
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
