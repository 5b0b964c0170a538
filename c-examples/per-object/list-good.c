// Each node of a list is protected by its own lock, and every value changes under its node's lock.
//@ check: race deadlock misuse safety
#include <pthread.h>

struct node {
    pthread_mutex_t lock;
    int value;
    struct node *next;
};

static struct node tail = {PTHREAD_MUTEX_INITIALIZER, 0, NULL};
static struct node head = {PTHREAD_MUTEX_INITIALIZER, 0, &tail};

static void *visit_all(void *arg)
{
    (void)arg;
    for (struct node *node = &head; node; node = node->next) {
        pthread_mutex_lock(&node->lock);
        node->value++; //~ no race: a node's lock goes with its value
        pthread_mutex_unlock(&node->lock);
    }
    return NULL;
}

static void *visit_last(void *arg)
{
    struct node *node = &head;
    (void)arg;
    pthread_mutex_lock(&node->next->lock);
    node->next->value++;
    pthread_mutex_unlock(&node->next->lock);
    return NULL;
}

int main(void)
{
    pthread_t first, second;
    pthread_create(&first, NULL, visit_all, NULL);
    pthread_create(&second, NULL, visit_last, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return head.value + tail.value != 3;
}
