// Pointers: arithmetic and differences, pointers to pointers, two-dimensional arrays, aliasing by bytes.
//@ check: race deadlock misuse safety
//@ clean
#include <stdio.h>
#include <string.h>

static void swap(int **left, int **right)
{
    int *kept = *left;
    *left = *right;
    *right = kept;
}

static int sum_column(int (*matrix)[3], int rows, int column)
{
    int sum = 0;
    for (int (*row)[3] = matrix; row < matrix + rows; row++)
        sum += (*row)[column];
    return sum;
}

int main(void)
{
    int matrix[2][3] = {{1, 2, 3}, {4, 5, 6}};
    int *first = &matrix[0][0], *last = &matrix[1][2];
    printf("%d %d\n", *first, *last);
    swap(&first, &last);
    printf("%d %d %d\n", *first, *last, (int)(&matrix[1][2] - &matrix[1][0]));
    for (int column = 0; column < 3; column++)
        printf("column %d: %d\n", column, sum_column(matrix, 2, column));

    unsigned value = 0x01020304;
    unsigned char bytes[sizeof value];
    memcpy(bytes, &value, sizeof value);
    unsigned char *walk = bytes + sizeof bytes;
    while (walk-- > bytes + 1)
        printf("%d ", *walk);
    printf("%d\n", bytes[0]);

    const char *words[] = {"one", "two", "three", NULL};
    int letters = 0;
    for (const char **word = words; *word; word++)
        for (const char *letter = *word; *letter; letter++)
            letters++;
    return letters;
}
