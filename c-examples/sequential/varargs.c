// Functions with a variable number of arguments, passed on through a va_list.
//@ check: race deadlock misuse safety
//@ clean
#include <stdarg.h>
#include <stdio.h>

static long long sum(const char *kinds, ...)
{
    long long total = 0;
    va_list arguments;
    va_start(arguments, kinds);
    for (; *kinds; kinds++) {
        switch (*kinds) {
        case 'i':
            total += va_arg(arguments, int);
            break;
        case 'l':
            total += va_arg(arguments, long long);
            break;
        case 'd':
            total += (long long)va_arg(arguments, double);
            break;
        case 's':
            for (const char *text = va_arg(arguments, const char *); *text; text++)
                total++;
            break;
        }
    }
    va_end(arguments);
    return total;
}

static int format(char *buffer, unsigned size, const char *layout, ...)
{
    va_list arguments, again;
    va_start(arguments, layout);
    va_copy(again, arguments);
    int needed = vsnprintf(NULL, 0, layout, arguments);
    vsnprintf(buffer, size, layout, again);
    va_end(again);
    va_end(arguments);
    return needed;
}

int main(void)
{
    char buffer[24];
    printf("%lld\n", sum("iildsi", 1, 2, 10000000000LL, 3.75, "four", -6));
    printf("%lld\n", sum("iiiiiiiidddddddddd", 1, 2, 3, 4, 5, 6, 7, 8, 1., 2., 3., 4., 5., 6., 7., 8., 9., 10.));
    int needed = format(buffer, sizeof buffer, "%s-%04d-%c-%x-%5.2f", "tag", 42, 'q', 255, 2.5);
    printf("%s %d\n", buffer, needed);
    return needed;
}
