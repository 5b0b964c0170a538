// Pointers, structs and calls on one thread: a search tree on the heap, a linked list that is reversed, function pointers.
#include <stdio.h>
#include <stdlib.h>

struct node {
    int key;
    int weight;
    struct node *smaller, *greater;
};

struct cell {
    struct cell *next;
    int value;
};

static struct node *insert(struct node *tree, int key) {
    if (!tree) {
        struct node *made = malloc(sizeof *made);
        made->key = key;
        made->weight = 1;
        made->smaller = made->greater = 0;
        return made;
    }
    if (key < tree->key)
        tree->smaller = insert(tree->smaller, key);
    else
        tree->greater = insert(tree->greater, key);
    tree->weight++;
    return tree;
}

static int find(const struct node *tree, int key) {
    int depth = 0;
    while (tree && tree->key != key) {
        tree = key < tree->key ? tree->smaller : tree->greater;
        depth++;
    }
    return tree ? depth : -1;
}

static void drop(struct node *tree) {
    if (!tree)
        return;
    drop(tree->smaller);
    drop(tree->greater);
    free(tree);
}

static int twice(int value) { return 2 * value; }
static int next(int value) { return value + 1; }

static struct cell *reverse(struct cell *list) {
    struct cell *reversed = 0;
    while (list) {
        struct cell *rest = list->next;
        list->next = reversed;
        reversed = list;
        list = rest;
    }
    return reversed;
}

int main(void) {
    int (*const functions[2])(int) = {twice, next};
    static struct cell cells[1000];
    int sum = 0;
    for (int round = 0; round < 10; round++) {
        struct node *tree = 0;
        unsigned seed = round + 1;
        for (int i = 0; i < 500; i++) {
            seed = seed * 1103515245u + 12345u;
            tree = insert(tree, (int)(seed >> 16) % 10000);
        }
        for (int key = 0; key < 2000; key++)
            sum += find(tree, key);
        drop(tree);
        for (int i = 0; i < 1000; i++) {
            cells[i].value = functions[i & 1](i);
            cells[i].next = i < 999 ? &cells[i + 1] : 0;
        }
        struct cell *list = cells;
        for (int i = 0; i < 9; i++)
            list = reverse(list);
        for (; list; list = list->next)
            sum ^= list->value;
    }
    printf("%d\n", sum);
    return 0;
}
