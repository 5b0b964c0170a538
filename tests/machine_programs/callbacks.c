// Library functions that call back into the program, and library functions as callbacks.
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int calls;
static int by_value(const void *left, const void *right) {
    calls++;
    return *(const int *)left < *(const int *)right ? -1 : *(const int *)left > *(const int *)right;
}
static int by_text(const void *left, const void *right) { return strcmp(*(char *const *)left, *(char *const *)right); }

int main(void) {
    int numbers[] = {5, 3, 9, 1, 7, 3};
    char *words[] = {"pear", "fig", "apple", "date"};
    char letters[][2] = {"d", "a", "c", "b"};
    qsort(numbers, 6, sizeof *numbers, by_value);
    for (int i = 0; i < 6; i++) printf("%d ", numbers[i]);
    int key = 7, missing = 8;
    int *found = bsearch(&key, numbers, 6, sizeof *numbers, by_value);
    printf("at %ld, %s, %s\n", (long)(found - numbers), bsearch(&missing, numbers, 6, sizeof *numbers, by_value) ? "there" : "missing", calls > 6 ? "compared" : "not compared");
    qsort(words, 4, sizeof *words, by_text);
    for (int i = 0; i < 4; i++) printf("%s ", words[i]);
    qsort(letters, 4, sizeof *letters, (int (*)(const void *, const void *))strcmp);
    for (int i = 0; i < 4; i++) printf("%s ", letters[i]);
    puts("");
    return 0;
}
