// The object of an earlier iteration is known to others, that of this one is not; a callee that gets now the one, now the other.
#include <pthread.h>
#include <stdlib.h>

struct node {
    int value, count;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct node *last;

static void bump(struct node *node) {
    node->count++;
}

static void publish(struct node *node) {
    pthread_mutex_lock(&lock);
    last = node;
    pthread_mutex_unlock(&lock);
}

static void *writer(void *unused) {
    (void)unused;
    struct node *earlier = NULL;
    for (int i = 0; i < 3; i++) {
        struct node *node = malloc(sizeof *node);
        node->value = i;
        node->count = 0;
        if (earlier)
            earlier->value = 7;
        bump(node);
        publish(node);
        earlier = node;
    }
    return NULL;
}

static void *reader(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    struct node *node = last;
    pthread_mutex_unlock(&lock);
    if (!node)
        return NULL;
    bump(node);
    return (void *)(long)node->value;
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
