// One function initialises every kind of node: a worker's own, and the list's head.
//@ check: race deadlock misuse safety
#include <pthread.h>
#include <stdlib.h>

struct node {
    int value;
    struct node *next;
};

static struct node head;

static void initialise(struct node *node, int value)
{
    node->value = value; //~ no race: the worker's node is its own
    node->next = NULL;
}

static void *worker(void *arg)
{
    (void)arg;
    struct node own;
    initialise(&own, 7);
    return (void *)(long)own.value;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    initialise(&head, 1);
    pthread_join(thread, NULL);
    return head.value != 1;
}
