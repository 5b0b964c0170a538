// One function initialises every kind of node, and the worker hands it the list's head as well.
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
    node->value = value; //~ race A: write head
    node->next = NULL; //~ race B: write head
}

static void *worker(void *arg)
{
    (void)arg;
    struct node own;
    initialise(&own, 7);
    initialise(&head, 7);
    return (void *)(long)own.value;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    initialise(&head, 1);
    pthread_join(thread, NULL);
    return head.value == 0;
}
