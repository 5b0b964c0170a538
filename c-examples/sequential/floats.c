// Floating point: float and double, conversions, comparisons, infinities, a little numerics.
//@ check: race deadlock misuse safety
//@ clean
#include <stdio.h>

static double square_root(double value)
{
    double guess = value > 1 ? value : 1;
    for (int i = 0; i < 40; i++)
        guess = (guess + value / guess) / 2;
    return guess;
}

static float average(const float *values, int count)
{
    float sum = 0;
    for (int i = 0; i < count; i++)
        sum += values[i];
    return sum / (float)count;
}

int main(void)
{
    float values[] = {1.5f, 2.25f, -0.75f, 1e6f};
    printf("%.3f %.6e\n", average(values, 3), average(values, 4));
    printf("%.10f %g\n", square_root(2), square_root(1e-4));
    double tenth = 0.1, sum = 0;
    for (int i = 0; i < 10; i++)
        sum += tenth;
    printf("%d %.17g\n", sum == 1.0, sum);
    printf("%d %d %u %.1f\n", (int)3.99, (int)-3.99, (unsigned)2.5, (double)7 / 2);
    volatile double zero = 0;
    double infinite = 1 / zero, nothing = infinite - infinite;
    printf("%d %d %d\n", infinite > 1e308, nothing == nothing, -infinite < 0);
    long long big = (1LL << 53) + 1;
    printf("%.0f %d\n", (double)big, (float)16777217 == 16777216.0f);
    return (int)(square_root(1764) + 0.5);
}
