// Integer arithmetic: signed and unsigned, division towards zero, shifts, narrowing, 64-bit products.
//@ check: race deadlock misuse safety
//@ clean
#include <limits.h>
#include <stdint.h>
#include <stdio.h>

static uint32_t rotate_left(uint32_t value, unsigned amount)
{
    return value << (amount & 31) | value >> (-amount & 31);
}

static unsigned long long power_modulo(unsigned long long base, unsigned exponent, unsigned long long modulus)
{
    unsigned long long result = 1;
    for (; exponent; exponent >>= 1, base = base * base % modulus)
        if (exponent & 1)
            result = result * base % modulus;
    return result;
}

int main(void)
{
    int numbers[] = {7, -7, 100, -100, INT_MAX, INT_MIN + 1};
    for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; i++)
        printf("%d / 3 = %d, %% 3 = %d, >> 2 = %d, as byte %d\n", numbers[i], numbers[i] / 3, numbers[i] % 3,
               numbers[i] >> 2, (signed char)numbers[i]);
    uint8_t small = 250;
    small += 10;
    int16_t half = (int16_t)40000;
    unsigned wrapped = 3u - 5u;
    printf("%u %d %u\n", small, half, wrapped);
    printf("%x %x\n", (unsigned)rotate_left(0x80000001u, 4), (unsigned)rotate_left(0x12345678u, 0));
    printf("%llu\n", power_modulo(3, 200, 1000000007ULL));
    int64_t product = (int64_t)INT_MAX * INT_MIN;
    printf("%lld %d\n", (long long)product, -1 < (int)sizeof(int));
    return (int)(product & 0x7f);
}
