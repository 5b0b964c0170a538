// A queue under a lock: each item is filled before it is put in, and belongs to the one who takes it out.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct item {
    int number;
    char name[8];
    struct item *next;
};

struct queue {
    pthread_mutex_t lock;
    struct item *head;
    int length;
};

static struct item *new_item(int number) {
    struct item *item = calloc(1, sizeof *item);
    item->number = number;
    memcpy(item->name, "item", 5);
    return item;
}

static void put(struct queue *queue, struct item *item) {
    pthread_mutex_lock(&queue->lock);
    item->next = queue->head;
    queue->head = item;
    queue->length++;
    pthread_mutex_unlock(&queue->lock);
}

static void *producer(void *argument) {
    struct queue *queue = argument;
    for (int i = 0; i < 2; i++) {
        struct item *item = new_item(i);
        item->number += 10;
        item->name[4] = (char)('0' + i);
        put(queue, item);
    }
    return NULL;
}

static void *consumer(void *argument) {
    struct queue *queue = argument;
    long sum = 0;
    pthread_mutex_lock(&queue->lock);
    struct item *item = queue->head;
    if (item)
        queue->head = item->next;
    pthread_mutex_unlock(&queue->lock);
    if (item) {
        sum += item->number + item->name[4];
        free(item);
    }
    return (void *)sum;
}

int main(void) {
    struct queue *queue = malloc(sizeof *queue);
    pthread_mutex_init(&queue->lock, NULL);
    queue->head = NULL;
    queue->length = 0;
    pthread_t threads[3];
    pthread_create(&threads[0], NULL, producer, queue);
    pthread_create(&threads[1], NULL, consumer, queue);
    pthread_create(&threads[2], NULL, consumer, queue);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
