// Arrays inside structures: walked through, left, copied into; structures that are used as others that begin alike. Built to run, not to print.
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct entry { char name[16]; struct entry *next; int row[2][4]; int *cells[3]; int *last; };
struct open { int count; int *items[]; };
struct tail { int *head; int *items[2]; };

// A table of the one that is searched as one of the other.
struct wide { long id; int *(*make)(int *); int *data; int *more; };
struct narrow { long id; int *(*make)(int *); int *data; };

static int a, b, c;
static struct entry entries[3];

static int *same(int *p) { return p; }
static struct wide table[2] = {{1, same, &a, &b}, {2, same, &b, &c}};
static const struct wide *find_wide(long id) { return id == 1 ? &table[0] : &table[1]; }
typedef const struct narrow *(*finder)(long);

static int *through(finder find, long id) {
    const struct narrow *found = find(id);
    return found->make(found->data);
}

static size_t length(const char *text) {
    const char *end = text;
    while (*end)
        end++;
    return (size_t)(end - text);
}

static void fill(char *to, size_t count) {
    char *end = to + count;
    for (char *at = to; at != end; at++)
        *at = 'x';
    for (char *at = end; at != to;)
        *--at = 'y';
    end[-1] = 0;
}

static struct entry *around(int **cell, unsigned index) {
    return (struct entry *)((char *)(cell - index) - offsetof(struct entry, cells));
}

static int sum(int *from, int count) {
    int total = 0;
    for (int *at = from; at < from + count; at++)
        total += *at;
    return total;
}

int main(int argc, char **argv) {
    struct entry *entry = malloc(sizeof *entry), copy;
    struct open *open = malloc(sizeof *open + 4 * sizeof(int *));
    struct tail *tail = malloc(sizeof *tail + 2 * sizeof(int *));
    if (!entry || !open || !tail)
        abort();
    memset(entry, 0, sizeof *entry);
    fill(entry->name, sizeof entry->name);
    entry->next = &entries[1];
    entry->last = &c;
    for (int i = 0; i < 3; i++)
        entry->cells[i] = i % 2 ? &a : &b;
    for (int **at = entry->cells; at < entry->cells + 3; at++)
        **at += 1;
    int **second = &entry->cells[1];
    struct entry *back = around(second, (unsigned)argc);
    *back->last += (int)length(back->name);
    // All rows as one.
    b += sum(&entry->row[0][0], 8);

    // From the first array on, the whole structure; and into an array, an address as bytes.
    memcpy(&copy.name[0], &entry->name[0], sizeof copy);
    *copy.last += *copy.cells[2];
    int *inside = &b;
    memcpy(entries[2].name + 8, &inside, sizeof inside);
    memcpy(&inside, entries[2].name + 8 * (size_t)argc, sizeof inside);
    *inside += 1;
    memmove(entries[1].name, entries[2].name, (size_t)argc * 16);
    memcpy(&inside, &entries[1].name[8], sizeof inside);
    *inside += 1;
    entries[(size_t)argc].cells[1] = &c;
    struct entry *walked = entries;
    for (int i = 0; i < 3; i++, walked++)
        if (walked->cells[argc])
            *walked->cells[argc] += 1;

    open->count = 4;
    for (int i = 0; i < open->count; i++)
        open->items[i] = i % 2 ? &a : &c;
    tail->head = &a;
    for (int i = 0; i < 4; i++)
        tail->items[i] = &b;
    for (int **at = tail->items + 3; at >= tail->items; at--)
        **at += **open->items;

    *through((finder)find_wide, argc) += 1;
    *through((finder)find_wide, argc + 1) += 1;
    (void)argv;
    free(entry);
    free(open);
    free(tail);
    return 0;
}
