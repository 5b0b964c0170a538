// qsort and bsearch with comparison callbacks, on numbers, structs and strings.
//@ check: race deadlock misuse safety
//@ clean
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct person {
    const char *name;
    int age;
};

static int by_value(const void *left, const void *right)
{
    int a = *(const int *)left, b = *(const int *)right;
    return (a > b) - (a < b);
}

static int by_age_then_name(const void *left, const void *right)
{
    const struct person *a = left, *b = right;
    return a->age != b->age ? a->age - b->age : strcmp(a->name, b->name);
}

static int backwards(const void *left, const void *right)
{
    return -strcmp(*(char *const *)left, *(char *const *)right);
}

int main(void)
{
    int numbers[] = {9, -3, 7, 0, 22, 5, -8};
    qsort(numbers, 7, sizeof *numbers, by_value);
    for (int i = 0; i < 7; i++)
        printf("%d ", numbers[i]);
    int key = 7, missing = 8;
    int *found = bsearch(&key, numbers, 7, sizeof *numbers, by_value);
    printf("at %d, %s\n", (int)(found - numbers), bsearch(&missing, numbers, 7, sizeof *numbers, by_value) ? "?" : "none");

    struct person people[] = {{"Nia", 41}, {"Ben", 30}, {"Ada", 41}, {"Cyd", 7}};
    qsort(people, 4, sizeof *people, by_age_then_name);
    for (int i = 0; i < 4; i++)
        printf("%s %d\n", people[i].name, people[i].age);

    const char *words[] = {"pear", "fig", "apple", "plum"};
    qsort(words, 4, sizeof *words, backwards);
    for (int i = 0; i < 4; i++)
        puts(words[i]);
    return (int)(found - numbers);
}
