// Switches with many cases: dense, sparse, negative, wide, with ranges and fall-through.
#include <stdio.h>

static int sparse(long long n) {
    switch (n) {
    case -9000000000LL: return 1;
    case -1: return 2;
    case 0: return 3;
    case 5: return 4;
    case 17: return 5;
    case 400: return 6;
    case 6000: return 7;
    case 70000: return 8;
    case 123456789: return 9;
    case 9000000000LL: return 10;
    case 10: case 11: case 12: return 11;
    default: return 0;
    }
}

static int dense(signed char n) {
    int sum = 0;
    switch (n) {
    case -3: sum += 1;
    case -2: sum += 2; break;
    case -1: sum += 4;
    case 0: sum += 8; break;
    case 1 ... 9: sum += 16; break;
    case 10: case 12: case 14: case 16: case 18: sum += 32; break;
    case 11: case 13: case 15: case 17: case 19: sum += 64; break;
    case 127: sum = -1; break;
    }
    return sum;
}

int main(void) {
    static const long long tried[] = {-9000000000LL, -9000000001LL, -1, 0, 1, 5, 10, 11, 12, 13, 17, 400, 6000, 70000, 123456789, 9000000000LL,
                                      4294967295LL, 410065408LL};
    for (unsigned i = 0; i < sizeof tried / sizeof tried[0]; i++) printf("%d ", sparse(tried[i]));
    for (int i = -128; i < 128; i++) printf("%d ", dense((signed char)i));
    puts("");
    return 0;
}
