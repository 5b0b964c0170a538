// Switches: fall-through, default in the middle, ranges of states, goto out of nested loops.
//@ check: race deadlock misuse safety
//@ clean
#include <stdio.h>

enum token { END, NUMBER, PLUS, TIMES, OTHER };

static enum token classify(char letter)
{
    switch (letter) {
    case '\0':
        return END;
    default:
        return OTHER;
    case '+':
        return PLUS;
    case '*':
        return TIMES;
    case '0': case '1': case '2': case '3': case '4':
    case '5': case '6': case '7': case '8': case '9':
        return NUMBER;
    }
}

static int evaluate(const char *text)
{
    int sum = 0, product = 1, number = 0;
    for (;; text++) {
        switch (classify(*text)) {
        case NUMBER:
            number = number * 10 + (*text - '0');
            break;
        case TIMES:
            product *= number;
            number = 0;
            break;
        case PLUS:
        case END:
            sum += product * number;
            product = 1;
            number = 0;
            if (*text == '\0')
                return sum;
            break;
        case OTHER:
            return -1;
        }
    }
}

int main(void)
{
    const char *inputs[] = {"12+3*4", "2*3*4+5", "7", "1+x", ""};
    for (int i = 0; i < 5; i++)
        printf("\"%s\" = %d\n", inputs[i], evaluate(inputs[i]));
    int steps = 0;
    for (int i = 0; i < 10; i++)
        for (int j = 0; j < 10; j++, steps++)
            if (i * j == 42)
                goto found;
found:
    return steps;
}
