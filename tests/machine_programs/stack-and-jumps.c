// Arrays of variable size, `alloca` in a loop, computed goto, large switches, structs by value, recursion through pointers.
#include <alloca.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct small { int a; double b; };
struct large { int values[20]; };
struct pair { long a, b; };

static long sum_all(int count, ...) {
    va_list list, again;
    long sum = 0;
    va_start(list, count);
    va_copy(again, list);
    for (int i = 0; i < count; i++) {
        struct small s = va_arg(list, struct small);
        struct large l = va_arg(list, struct large);
        struct pair p = va_arg(list, struct pair);
        long double d = va_arg(list, long double);
        long long n = va_arg(list, long long);
        double f = va_arg(list, double);
        sum += s.a + (long)s.b + l.values[19] + p.a * p.b + (long)d + (long)n + (long)f;
    }
    va_end(list);
    struct small first = va_arg(again, struct small);
    va_end(again);
    return sum * 10 + first.a;
}

static int interpret(const unsigned char *code) {
    static void *const labels[] = {&&stop, &&increment, &&twice, &&decrement};
    int value = 1;
    goto *labels[*code++];
increment:
    value++;
    goto *labels[*code++];
twice:
    value *= 2;
    goto *labels[*code++];
decrement:
    value--;
    goto *labels[*code++];
stop:
    return value;
}

static struct large change(struct large l) {
    l.values[3] += 100;
    return l;
}

static int vla(int n) {
    int total = 0;
    for (int i = 1; i <= n; i++) {
        int array[i];
        char *text = alloca(i + 1);
        memset(text, 'x', i);
        text[i] = 0;
        for (int k = 0; k < i; k++) array[k] = k * i;
        total += array[i - 1] + (int)strlen(text);
    }
    return total;
}

int main(void) {
    struct large l = {{0}};
    for (int i = 0; i < 20; i++) l.values[i] = i;
    struct large other = change(l);
    struct small s = {3, 4.5};
    struct pair p = {6, 7};
    printf("%d %d\n", l.values[3], other.values[3]);
    printf("%ld\n", sum_all(3, s, l, p, 1.5L, 2LL, 2.25, s, l, p, 3.5L, 4LL, 4.25, s, l, p, 5.5L, 6LL, 6.25));
    printf("%d %d\n", interpret((const unsigned char[]){1, 2, 2, 3, 0}), vla(12));
    return 0;
}
