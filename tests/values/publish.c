// Objects that are made, filled and handed on: under a lock, to a new thread, by plain and releasing stores.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct node {
    int key, value;
    struct node *next;
    pthread_mutex_t lock;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct node *list;
static struct node *racy;
static _Atomic(struct node *) released;

static struct node *make(int key) {
    struct node *node = malloc(sizeof *node);
    if (!node)
        return NULL;
    node->key = key;
    node->value = 0;
    node->next = NULL;
    return node;
}

static void fill(struct node *node, int value) {
    node->value = value;
    pthread_mutex_init(&node->lock, NULL);
}

static void push(struct node *node) {
    pthread_mutex_lock(&lock);
    node->next = list;
    list = node;
    pthread_mutex_unlock(&lock);
}

static void *child(void *argument) {
    struct node *node = argument;
    node->value++;
    free(node);
    return NULL;
}

static void *writer(void *unused) {
    (void)unused;
    struct node *kept = NULL;
    for (int i = 0; i < 3; i++) {
        struct node *node = make(i);
        fill(node, i);
        push(node);
        node->value = 7; // published: races with the reader
        if (kept)
            kept->key = i; // an earlier one, published
        kept = node;
    }
    struct node *one = make(10);
    fill(one, 1);
    racy = one;
    struct node *three = make(12);
    fill(three, 3);
    atomic_store_explicit(&released, three, memory_order_release);
    struct node *four = make(13);
    four->value = 4;
    pthread_t thread;
    pthread_create(&thread, NULL, child, four);
    pthread_join(thread, NULL);
    return NULL;
}

static void *reader(void *unused) {
    (void)unused;
    int sum = 0;
    pthread_mutex_lock(&lock);
    for (struct node *node = list; node; node = node->next)
        sum += node->value + node->key;
    pthread_mutex_unlock(&lock);
    struct node *node = racy;
    if (node)
        sum += node->value;
    node = atomic_load_explicit(&released, memory_order_acquire);
    if (node)
        sum += node->value + node->key;
    return (void *)(long)sum;
}

int main(void) {
    pthread_t threads[3];
    pthread_create(&threads[0], NULL, writer, NULL);
    pthread_create(&threads[1], NULL, reader, NULL);
    pthread_create(&threads[2], NULL, reader, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
