//! Integers beyond the ordinary: `__int128`, `_BitInt(N)`, `long`, bit-counting and overflow-checking builtins, and the
//! idioms (rotation, saturation, minimum) that optimisers turn into intrinsics.

use super::builder::Builder;
use super::expression::Scope;
use super::kind::Kind;

pub fn section(builder: &mut Builder) {
    match builder.random.below(4) {
        0 => int128(builder),
        1 => bit_precise(builder),
        2 => bit_builtins(builder),
        _ => overflow_builtins(builder),
    }
}

/// On targets without `__int128` the section returns a constant.
fn int128(builder: &mut Builder) {
    builder.cover("int128");
    let scope = Scope::new(&[("a", Kind::U64), ("b", Kind::I64), ("n", Kind::U32)]);
    let high = scope.text(&mut builder.random, 2);
    let low = scope.text(&mut builder.random, 2);
    let shift = builder.number(1, 127);
    let divisor = builder.number(2, 1_000_000);
    let operator = builder.choose(&["+", "-", "*", "^", "|", "&"]);
    let sign = builder.choose(&["1", "-1", "-77"]);
    let values = [("high", high), ("low", low), ("shift", shift), ("divisor", divisor), ("operator", operator), ("sign", sign)];
    builder.section(
        "wide",
        r#"
#ifdef __SIZEOF_INT128__
typedef unsigned __int128 @self_unsigned;
typedef __int128 @self_signed;
@inner void @self_show(const char *label, @self_unsigned value) {
    show(label, (uint64_t)(value >> 64));
    show(label, (uint64_t)value);
}
@inner @self_unsigned @self_power(@self_unsigned base, unsigned exponent) {
    @self_unsigned result = 1;
    for (; exponent; exponent >>= 1, base *= base)
        if (exponent & 1) result *= base;
    return result;
}
#endif
@static uint64_t @self(void) {
    uint64_t a = take();
    int64_t b = (int64_t)take();
    uint32_t n = (uint32_t)take();
#ifdef __SIZEOF_INT128__
    @self_unsigned x = (@self_unsigned)(@high) << 64 | (uint64_t)(@low);
    @self_unsigned y = x @operator a;
    @self_signed s = (@self_signed)x / ((@self_signed)((b & 0xfffff) + 2) * (@sign));
    @self_show("x", x);
    @self_show("y", y * 3 + (x >> @shift) + (y << (n & 127)));
    @self_show("quotient", y / (x % @divisor + 1));
    @self_show("remainder", x % ((y >> 40) | 1));
    @self_show("signed", (@self_unsigned)((@self_signed)y >> @shift));
    @self_show("division", (@self_unsigned)s);
    @self_show("power", @self_power(a | 1, n & 63));
    show("order", (uint64_t)(((@self_signed)x < (@self_signed)y) + 2 * (x < y) + 4 * (x == y) + 8 * (s < b)));
    return (uint64_t)(x ^ (y >> 64)) + (uint64_t)(((@self_signed)b * b) >> 60);
#else
    return a ^ (uint64_t)b ^ n;
#endif
}
"#,
        &values,
    );
}

/// Where `_BitInt` is missing, 64-bit arithmetic with a mask after each operation gives the same values.
fn bit_precise(builder: &mut Builder) {
    builder.cover("bit-precise");
    let width = *builder.random.pick(&[37, 37, 17, 53, 61, 12]);
    let values = [
        ("width", width.to_string()),
        ("mask", format!("UINT64_C({:#x})", (1u64 << width) - 1)),
        ("factor", builder.number(3, 4000)),
        ("shift", builder.random.below(width).to_string()),
        ("divisor", builder.number(2, 2000)),
        ("offset", builder.number(1, 2000)),
    ];
    builder.section(
        "bitint",
        r#"
#ifdef __BITINT_MAXWIDTH__
typedef unsigned _BitInt(@width) @self_word;
typedef signed _BitInt(@width) @self_int;
#define @self_WRAP(value) ((@self_word)(value))
#else
typedef uint64_t @self_word;
typedef int64_t @self_int;
#define @self_WRAP(value) ((uint64_t)(value) & @mask)
#endif
static @self_word @self_table[5] = {1, @offset, 3, 0, 77};
@inner @self_word @self_step(@self_word x, @self_word y) {
    @self_word product = @self_WRAP(@self_WRAP(x * @self_WRAP(@factor)) + y);
    return @self_WRAP(product ^ (product >> @shift));
}
@static uint64_t @self(void) {
    @self_word x = @self_WRAP(take());
    @self_int s = (@self_int)((int64_t)(take() & 1023) - 512);
    for (unsigned i = 0; i < 10; i++) {
        x = @self_step(x, @self_table[i % 5]);
        @self_table[(i + 2) % 5] = @self_WRAP(x << (i % 7));
        s = (@self_int)(s / 3 - (@self_int)(i * 5) * (@self_int)(i % 2 ? -1 : 1));
        show("word", (uint64_t)x);
    }
    show("signed", (uint64_t)(int64_t)s);
    show("quotient", (uint64_t)(x / @self_WRAP(@divisor)) + (uint64_t)(x % @self_WRAP(@divisor)));
    show("compare", (uint64_t)((x > @self_table[1]) + 2 * (s < (@self_int)0)));
    return (uint64_t)@self_WRAP(x + @self_table[3]) ^ (uint64_t)(int64_t)(s >> 1);
}
"#,
        &values,
    );
}

fn bit_builtins(builder: &mut Builder) {
    builder.cover("bit-builtins");
    let scope = Scope::new(&[("a", Kind::U32), ("b", Kind::U64), ("c", Kind::I32)]);
    let values = [
        ("first", scope.text(&mut builder.random, 2)),
        ("second", scope.text(&mut builder.random, 2)),
        ("rotation", builder.number(1, 31)),
        ("limit", builder.number(1, 60000)),
        ("rounds", builder.number(3, 9)),
    ];
    builder.section(
        "bits",
        r#"
@inner uint32_t @self_rotate(uint32_t x, unsigned count) { return x << (count & 31) | x >> (-count & 31); }
@inner uint8_t @self_saturate(uint8_t x, uint8_t y) { return (uint8_t)(x + y > 255 ? 255 : x + y); }
@inner uint16_t @self_difference(uint16_t x, uint16_t y) { return (uint16_t)(x > y ? x - y : 0); }
@static uint64_t @self(void) {
    uint64_t total = 0;
    for (int round = 0; round < @rounds; round++) {
        uint32_t a = (uint32_t)take();
        uint64_t b = take();
        int32_t c = (int32_t)take();
        uint32_t x = (uint32_t)(@first);
        uint64_t y = (uint64_t)(@second);
        total += (uint64_t)(__builtin_popcount(x) + __builtin_popcountll(y) * 3);
        total = total * 5 + (uint64_t)(__builtin_clz(x | 1) + __builtin_clzll(y | 1) * 64);
        total = total * 5 + (uint64_t)(__builtin_ctz(x | 0x80000000u) + __builtin_ctzll(y | UINT64_C(1) << 63) * 64);
        total ^= __builtin_bswap64(y) ^ __builtin_bswap32(x) ^ __builtin_bswap16((uint16_t)x);
        total += (uint64_t)(__builtin_parity(x) + 2 * __builtin_ffs((int)x) + 256 * __builtin_ffsll((long long)y));
        show("bits", total);
        show("rotate", @self_rotate(x, @rotation) ^ @self_rotate(a, x));
        show("saturate", (uint64_t)(@self_saturate((uint8_t)x, (uint8_t)y) + 256 * @self_difference((uint16_t)x, @limit)));
        if (__builtin_expect(c > 0, 1)) total += (uint64_t)abs(c % 1000 - 500);
        total += (uint64_t)llabs((long long)(int64_t)(y >> 2) - (1ll << 60)) + (uint64_t)labs((long)(c / 2));
    }
    return total;
}
"#,
        &values,
    );
}

fn overflow_builtins(builder: &mut Builder) {
    builder.cover("overflow-builtins");
    builder.cover("long");
    let narrow = *builder.random.pick(&Kind::ALL[1..]);
    let wide = *builder.random.pick(&Kind::ALL[1..]);
    let target = *builder.random.pick(&Kind::ALL[1..]);
    let values = [
        ("narrow", narrow.name()),
        ("wide", wide.name()),
        ("target", target.name()),
        ("first", builder.choose(&["add", "sub", "mul"])),
        ("second", builder.choose(&["add", "sub", "mul"])),
        ("rounds", builder.number(4, 12)),
        ("shift", builder.number(0, 40)),
    ];
    builder.section(
        "overflow",
        r#"
@inner long @self_long(long x, unsigned long y) { return x / 3 + (long)(y % 1000ul) - (x % 7l) * 5l; }
@static uint64_t @self(void) {
    uint64_t total = 1;
    for (int round = 0; round < @rounds; round++) {
        @narrow x = (@narrow)(take() >> @shift);
        @wide y = (@wide)take();
        @narrow same;
        @target mixed;
        int32_t sum;
        uint64_t product;
        total = total * 2 + (uint64_t)__builtin_@first_overflow(x, (@narrow)y, &same);
        total = total * 2 + (uint64_t)__builtin_@second_overflow((int64_t)x, (int64_t)(int32_t)y, &mixed);
        total = total * 2 + (uint64_t)__builtin_add_overflow((int32_t)x, (int32_t)y, &sum);
        total = total * 2 + (uint64_t)__builtin_mul_overflow((uint64_t)x, (uint64_t)y, &product);
        show("same", (uint64_t)same);
        show("mixed", (uint64_t)mixed ^ (uint64_t)(int64_t)sum ^ product);
        long step = @self_long((long)(int32_t)y, (unsigned long)x);
        printf("long %ld %lu %lx\n", step, (unsigned long)x, (unsigned long)step);
        mix((uint64_t)(int64_t)step);
    }
    return total;
}
"#,
        &values,
    );
}
