// From a link to the object it lies in, by an offset that is written as an address in nothing; the count is changed after the unlock.
//@ check: race deadlock misuse safety
#include <pthread.h>
#include <stdlib.h>

#define CONTAINER(pointer, type, member) ((type *)((char *)(pointer) - (size_t)&((type *)0)->member))

struct item {
    int count;
    pthread_mutex_t lock;
    int link;
};

static struct item *shared;

static void add(int *link)
{
    struct item *item = CONTAINER(link, struct item, link);
    pthread_mutex_lock(&item->lock);
    pthread_mutex_unlock(&item->lock);
    item->count++; //~ race A: write item->count
}

static void *worker(void *arg)
{
    (void)arg;
    add(&shared->link);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    shared = calloc(1, sizeof *shared);
    pthread_mutex_init(&shared->lock, NULL);
    pthread_create(&thread, NULL, worker, NULL);
    add(&shared->link);
    pthread_join(thread, NULL);
    return shared->count > 2;
}
