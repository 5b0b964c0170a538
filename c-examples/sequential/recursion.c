// Recursion: direct, mutual, with backtracking, on a tree.
//@ check: race deadlock misuse safety
//@ clean
#include <stdio.h>
#include <stdlib.h>

struct tree {
    int key;
    struct tree *left, *right;
};

static int is_odd(unsigned number);

static int is_even(unsigned number)
{
    return number == 0 || is_odd(number - 1);
}

static int is_odd(unsigned number)
{
    return number != 0 && is_even(number - 1);
}

static unsigned ackermann(unsigned m, unsigned n)
{
    if (m == 0)
        return n + 1;
    return ackermann(m - 1, n == 0 ? 1 : ackermann(m, n - 1));
}

static int queens(int row, int size, unsigned columns, unsigned up, unsigned down)
{
    int count = 0;
    if (row == size)
        return 1;
    for (int column = 0; column < size; column++) {
        unsigned bit = 1u << column, rising = 1u << (row + column), falling = 1u << (row - column + size);
        if (!(columns & bit) && !(up & rising) && !(down & falling))
            count += queens(row + 1, size, columns | bit, up | rising, down | falling);
    }
    return count;
}

static struct tree *insert(struct tree *tree, int key)
{
    if (!tree) {
        tree = calloc(1, sizeof *tree);
        tree->key = key;
    } else if (key < tree->key)
        tree->left = insert(tree->left, key);
    else
        tree->right = insert(tree->right, key);
    return tree;
}

static int print_and_free(struct tree *tree)
{
    if (!tree)
        return 0;
    int depth = print_and_free(tree->left);
    printf("%d ", tree->key);
    int right = print_and_free(tree->right);
    free(tree);
    return 1 + (depth > right ? depth : right);
}

int main(void)
{
    int keys[] = {5, 2, 8, 1, 9, 3, 7};
    struct tree *tree = NULL;
    for (int i = 0; i < 7; i++)
        tree = insert(tree, keys[i]);
    int depth = print_and_free(tree);
    printf("depth %d\n", depth);
    printf("%d %d %u %d\n", is_even(20), is_odd(20), ackermann(2, 3), queens(0, 5, 0, 0, 0));
    return depth;
}
