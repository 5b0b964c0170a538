// Structures of two kinds are cut from one block: main reads what the thread counts while it runs.
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
    tally->hits++; //~ race A: write tally->hits
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
    long length = tally->hits; //~ race A: read tally->hits
    pthread_join(thread, NULL);
    return tally->hits + length > 4;
}
