// Addresses in places that are easily forgotten: integers, bytes, unions, arguments, copies, lists, callbacks. Built to run, not to print.
#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct node { struct node *next; int value; struct { long tag; int *data; } inner; };
struct list_head { struct list_head *next, *prev; };
struct item { int key; struct list_head link; int *payload; };
union word { int *pointer; uintptr_t number; unsigned char bytes[sizeof(int *)]; };
typedef int (*visitor)(int *, void *);

static int numbers[8];
static struct node *head;
static struct list_head items = {&items, &items};
static pthread_key_t key, other_key;
static __thread int *mine;

static void *allocate(size_t size) {
    void *memory = malloc(size);
    if (!memory)
        abort();
    return memory;
}

static struct node *new_node(int value, int *data) {
    struct node *node = allocate(sizeof *node);
    node->value = value;
    node->inner.data = data;
    node->next = NULL;
    return node;
}

static void push(struct node *node) {
    node->next = head;
    head = node;
}

static void byte_copy(void *to, const void *from, size_t size) {
    for (size_t i = 0; i < size; i++)
        ((char *)to)[i] = ((const char *)from)[i];
}

static int sum(int count, ...) {
    va_list list, again;
    int total = 0;
    va_start(list, count);
    va_copy(again, list);
    for (int i = 0; i < count; i++)
        total += *va_arg(list, int *);
    for (int i = 0; i < count; i++)
        total += *va_arg(again, int *);
    va_end(again);
    va_end(list);
    return total;
}

static struct node by_value(struct node node) {
    *node.inner.data += 1;
    node.inner.data++;
    return node;
}

static int add(int *number, void *extra) { return *number + *(int *)extra; }
static int twice(int *number, void *extra) { return *number * 2 + *(int *)extra; }
static int by_content(const void *left, const void *right) { return **(int *const *)left - **(int *const *)right; }

static void *worker(void *argument) {
    struct node *node = argument;
    mine = node->inner.data;
    *mine += 1;
    pthread_setspecific(key, node->inner.data);
    pthread_setspecific(other_key, node);
    int *kept = pthread_getspecific(key);
    *kept += 2;
    return kept;
}

int main(void) {
    int local = 3, *slots[4];
    for (int i = 0; i < 4; i++)
        push(new_node(i, &numbers[i]));
    for (struct node *node = head; node; node = node->next)
        *node->inner.data += node->value;

    struct item first = {1, {0}, &local}, *second = allocate(sizeof *second);
    *second = (struct item){2, {0}, &numbers[5]};
    for (int i = 0; i < 2; i++) {
        struct list_head *link = i ? &second->link : &first.link;
        link->next = items.next;
        link->prev = &items;
        items.next->prev = link;
        items.next = link;
    }
    for (struct list_head *at = items.next; at != &items; at = at->next)
        *((struct item *)((char *)at - offsetof(struct item, link)))->payload += 1;

    union word word;
    word.pointer = &numbers[6];
    uintptr_t tagged = word.number | 1;
    *(int *)(tagged & ~(uintptr_t)1) += 1;
    uintptr_t low = word.number & 0xffff, high = word.number >> 16;
    *(int *)(high << 16 | low) += 1;
    uintptr_t both = (uintptr_t)&local ^ (uintptr_t)&numbers[7];
    *(int *)(both ^ (uintptr_t)&local) += 1;
    uintptr_t distance = (uintptr_t)&local - (uintptr_t)&numbers[0];
    *(int *)((uintptr_t)&numbers[0] + distance) += 1;
    union word copied;
    byte_copy(&copied, &word, sizeof word);
    *copied.pointer += 1;

    int *target = &local, **place = &target, **moved;
    byte_copy(&moved, &place, sizeof place);
    **moved += 1;

    struct node *copy = malloc(sizeof *copy), *grown;
    memcpy(copy, head, sizeof *copy);
    *copy->inner.data += 1;
    copy = realloc(copy, 2 * sizeof *copy);
    memmove(copy + 1, copy, sizeof *copy);
    *copy[1].inner.data += 1;
    grown = &copy[1];
    struct node returned = by_value(*grown);
    *returned.inner.data += 1;

    for (int i = 0; i < 4; i++)
        slots[i] = &numbers[3 - i];
    qsort(slots, 4, sizeof *slots, by_content);
    *slots[0] += sum(9, slots[0], slots[1], &local, slots[2], slots[3], &numbers[4], &numbers[5], &numbers[6], &numbers[7]);

    visitor visitors[2] = {add, twice};
    for (int i = 0; i < 2; i++)
        local += visitors[i](slots[i], &local);

    pthread_key_create(&key, NULL);
    pthread_key_create(&other_key, NULL);
    pthread_t thread;
    void *result;
    pthread_create(&thread, NULL, worker, grown);
    pthread_join(thread, &result);
    *(int *)result += 1;

    char text[] = "one,two", *rest = text;
    char *word_end = strchr(strsep(&rest, ","), 'e');
    *word_end = 'x';
    *rest = 'T';
    void *labels[] = {&&done, &&again};
    int round = 0;
again:
    if (round++ < 2)
        goto *labels[round == 2 ? 0 : 1];
done:
    return 0;
}
