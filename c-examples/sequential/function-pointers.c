// Function pointers: in tables, as arguments, returned, in structs that act as objects.
//@ check: race deadlock misuse safety
//@ clean
#include <stdio.h>

typedef int (*operation)(int, int);

static int add(int a, int b) { return a + b; }
static int subtract(int a, int b) { return a - b; }
static int multiply(int a, int b) { return a * b; }

static operation choose(char sign)
{
    return sign == '+' ? add : sign == '-' ? subtract : multiply;
}

static int fold(operation combine, int start, const int *values, int count)
{
    while (count-- > 0)
        start = combine(start, *values++);
    return start;
}

struct counter {
    int value;
    void (*step)(struct counter *);
};

static void up(struct counter *counter);

static void down(struct counter *counter)
{
    counter->value -= 3;
    counter->step = up;
}

static void up(struct counter *counter)
{
    counter->value += 5;
    counter->step = down;
}

int main(void)
{
    int values[] = {2, 3, 4};
    for (const char *sign = "+-*"; *sign; sign++)
        printf("%c %d\n", *sign, fold(choose(*sign), 1, values, 3));
    struct counter counter = {0, up};
    for (int i = 0; i < 5; i++) {
        counter.step(&counter);
        printf("%d%s", counter.value, i < 4 ? ", " : "\n");
    }
    operation table[] = {add, subtract, multiply};
    return table[2](table[0](2, 3), table[1](9, 5));
}
