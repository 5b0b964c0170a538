// The heap: malloc, realloc that grows and keeps, a linked list, a hash table with chains.
//@ check: race deadlock misuse safety
//@ clean
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct entry {
    struct entry *next;
    unsigned count;
    char word[];
};

static struct entry *buckets[4];

static struct entry *look_up(const char *word)
{
    unsigned hash = 5381;
    for (const char *letter = word; *letter; letter++)
        hash = hash * 33 + (unsigned char)*letter;
    struct entry **place = &buckets[hash % 4];
    for (; *place; place = &(*place)->next)
        if (strcmp((*place)->word, word) == 0)
            return *place;
    *place = malloc(sizeof **place + strlen(word) + 1);
    (*place)->next = NULL;
    (*place)->count = 0;
    strcpy((*place)->word, word);
    return *place;
}

int main(void)
{
    const char *text[] = {"a", "rose", "is", "a", "rose", "is", "a", "rose"};
    for (int i = 0; i < 8; i++)
        look_up(text[i])->count++;
    printf("a %u, rose %u, is %u\n", look_up("a")->count, look_up("rose")->count, look_up("is")->count);

    int *squares = NULL, capacity = 0;
    for (int i = 0; i < 20; i++) {
        if (i == capacity) {
            capacity = capacity ? capacity * 2 : 2;
            squares = realloc(squares, (size_t)capacity * sizeof *squares);
        }
        squares[i] = i * i;
    }
    int sum = 0;
    for (int i = 0; i < 20; i++)
        sum += squares[i];
    free(squares);
    for (int i = 0; i < 4; i++)
        while (buckets[i]) {
            struct entry *next = buckets[i]->next;
            free(buckets[i]);
            buckets[i] = next;
        }
    printf("%d %d\n", sum, capacity);
    return sum % 128;
}
