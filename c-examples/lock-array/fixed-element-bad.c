// A sweep over all slots, each under its own lock; main takes the lock of another slot than the one that it changes.
//@ check: race deadlock misuse safety
#include <pthread.h>

struct slot {
    int count;
    pthread_mutex_t lock;
};

static struct slot slots[4];

static void add(struct slot *slot)
{
    pthread_mutex_lock(&slot->lock);
    slot->count++; //~ race A: write slots
    pthread_mutex_unlock(&slot->lock);
}

static void *sweeper(void *arg)
{
    (void)arg;
    for (int i = 0; i < 4; i++)
        add(&slots[i]);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    for (int i = 0; i < 4; i++)
        pthread_mutex_init(&slots[i].lock, NULL);
    pthread_create(&thread, NULL, sweeper, NULL);
    pthread_mutex_lock(&slots[1].lock);
    slots[2].count = 0; //~ race A: write slots
    pthread_mutex_unlock(&slots[1].lock);
    pthread_join(thread, NULL);
    return slots[2].count > 1;
}
