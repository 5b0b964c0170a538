// An object whose address is stored without order: what was written to it before races with whoever finds it.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct node {
    int key, value;
};

static _Atomic(struct node *) relaxed;

static void *writer(void *unused) {
    (void)unused;
    struct node *node = malloc(sizeof *node);
    node->key = 1;
    node->value = 2;
    atomic_store_explicit(&relaxed, node, memory_order_relaxed);
    return NULL;
}

static void *reader(void *unused) {
    (void)unused;
    struct node *node = atomic_load_explicit(&relaxed, memory_order_relaxed);
    return node ? (void *)(long)(node->value + node->key) : NULL;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, writer, NULL);
    pthread_create(&threads[1], NULL, reader, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return 0;
}
