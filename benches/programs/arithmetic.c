// Integers, floats and arrays on one thread: a sieve, a matrix product, a linear congruential generator.
#include <stdio.h>

enum { LIMIT = 4000, SIDE = 24 };

static unsigned char composite[LIMIT];
static double left[SIDE][SIDE], right[SIDE][SIDE], product[SIDE][SIDE];

static int primes(void) {
    int count = 0;
    for (int i = 2; i < LIMIT; i++)
        composite[i] = 0;
    for (int i = 2; i < LIMIT; i++) {
        if (composite[i])
            continue;
        count++;
        for (int j = i + i; j < LIMIT; j += i)
            composite[j] = 1;
    }
    return count;
}

static unsigned scramble(unsigned seed, int rounds) {
    unsigned hash = 2166136261u;
    for (int i = 0; i < rounds; i++) {
        seed = seed * 1664525u + 1013904223u;
        hash = (hash ^ (seed >> 24)) * 16777619u;
    }
    return hash;
}

static double multiply(void) {
    double trace = 0;
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++) {
            left[i][j] = i + j;
            right[i][j] = i - j;
        }
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++) {
            double sum = 0;
            for (int k = 0; k < SIDE; k++)
                sum += left[i][k] * right[k][j];
            product[i][j] = sum;
        }
    for (int i = 0; i < SIDE; i++)
        trace += product[i][i];
    return trace;
}

int main(void) {
    unsigned sum = 0;
    for (int round = 0; round < 6; round++) {
        sum += primes();
        sum += scramble(round, 20000);
        sum += (int)multiply();
    }
    printf("%u\n", sum);
    return 0;
}
