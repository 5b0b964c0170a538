// Structures of two kinds are cut from one block: a thread counts in its own kind, main reads the other kind while the thread runs.
//@ check: race deadlock misuse safety
#include <pthread.h>
#include <stdlib.h>

struct tally {
    int hits;
};

struct name {
    long length;
};

static char *pool;
static size_t used;
static struct tally *tally;
static struct name *name;

static void *take(size_t size)
{
    void *place = pool + used;
    used += (size + 15) / 16 * 16;
    return place;
}

static void *worker(void *arg)
{
    (void)arg;
    tally->hits++; //~ no race: nothing else is stored there
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pool = malloc(64);
    tally = take(sizeof *tally);
    name = take(sizeof *name);
    tally->hits = 0;
    name->length = 3;
    pthread_create(&thread, NULL, worker, NULL);
    long length = name->length; //~ no race: a name is no tally
    pthread_join(thread, NULL);
    return tally->hits + length > 4;
}
