// Loops and scopes: static locals, shadowing, comma, conditional expressions, a sieve, Collatz.
//@ check: race deadlock misuse safety
//@ clean
#include <stdbool.h>
#include <stdio.h>

static int next_number(void)
{
    static int number;
    return ++number;
}

static int collatz(unsigned number)
{
    int steps = 0;
    do
        number = number % 2 ? 3 * number + 1 : number / 2;
    while (steps++, number != 1);
    return steps;
}

int main(void)
{
    bool composite[50] = {false};
    for (int i = 2; i < 50; i++) {
        if (composite[i])
            continue;
        printf("%d ", i);
        for (int multiple = i * i; multiple < 50; multiple += i)
            composite[multiple] = true;
    }
    printf("\n%d %d\n", collatz(27), collatz(6));
    int value = 1;
    {
        int value = next_number() + next_number();
        printf("%d ", value);
    }
    printf("%d %d\n", value, next_number());
    int length[2 + 1] = {0};
    for (int i = 0, j = 10; i < j; i++, j -= 2)
        length[i % 3] += j > 5 && i != 1 ? j : i;
    for (int i = 0; i < 3; i++)
        printf("%d ", length[i]);
    printf("%d\n", !value + !!value * ~value);
    return length[0];
}
