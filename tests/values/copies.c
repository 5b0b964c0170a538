// Addresses that leave inside copied structures, through arrays, results of threads, lists of arguments and kept strings.
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct box {
    int *inside;
    int count;
};

static struct box shared;
static struct box slots[2];
static int *by_list;
static char text[] = "a,b,c";

static void *reader(void *unused) {
    (void)unused;
    struct box seen = shared;
    long sum = 0;
    if (seen.inside)
        sum += *seen.inside;
    if (slots[0].inside)
        sum += *slots[0].inside;
    if (by_list)
        sum += *by_list;
    return (void *)sum;
}

static void keep(int count, ...) {
    va_list list;
    va_start(list, count);
    by_list = va_arg(list, int *);
    va_end(list);
}

static void shout(const char *format, ...) {
    char line[64];
    va_list list;
    va_start(list, format);
    vsnprintf(line, sizeof line, format, list);
    va_end(list);
    printf("%s %p\n", line, (void *)line);
}

static unsigned reads(void *place) {
    return (unsigned)strlen(place);
}

// Through a pointer: what each of the two functions touches.
static void either(void *place, unsigned seed) {
    int (*chosen)(unsigned *) = rand_r;
    unsigned (*other)(void *) = reads;
    if (seed)
        chosen(place);
    else
        other(place);
}

static void *(*const movers[])(void *, const void *, size_t) = {memcpy, (void *(*)(void *, const void *, size_t))memset};

static void move(void *to, const void *from, unsigned which) {
    movers[which & 1](to, from, 4);
}

static struct box by_value(struct box box) {
    box.count++;
    return box;
}

static void *writer(void *unused) {
    (void)unused;
    struct box local;
    local.inside = malloc(sizeof(int));
    *local.inside = 1;
    local.count = 1;
    memcpy(&shared, &local, sizeof local);
    struct box other = {.inside = malloc(sizeof(int)), .count = 2};
    *other.inside = 2;
    slots[0] = other;
    int *third = malloc(sizeof *third);
    *third = 3;
    keep(1, third);
    *third = 4;
    struct box copy = by_value(local);
    shout("%d %s", copy.count, text);
    char *rest = NULL;
    char words[] = "x y z";
    for (char *word = strtok_r(words, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
        shout("%s", word);
    unsigned numbers[2] = {1, 2};
    either(numbers, 1);
    either(words, 0);
    move(&numbers[0], &numbers[1], 0);
    int *result = malloc(sizeof *result);
    *result = 5;
    return result;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, writer, NULL);
    pthread_create(&threads[1], NULL, reader, NULL);
    text[0] = 'q';
    void *result;
    pthread_join(threads[0], &result);
    pthread_join(threads[1], NULL);
    int sum = *(int *)result;
    char *first = strtok(text, ",");
    while ((first = strtok(NULL, ",")))
        sum += first[0];
    int a, b;
    sscanf("12 34", "%d %d", &a, &b);
    char *end;
    sum += (int)strtol("77x", &end, 10) + *end;
    return sum + a + b == 0;
}
