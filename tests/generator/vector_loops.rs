//! Loops that an optimiser turns into vector code: reductions, maps, minima and maxima, mixed element widths,
//! gathers by stride, fills, conditional sums.

use super::builder::Builder;
use super::expression::Scope;
use super::kind::Kind;

pub fn section(builder: &mut Builder) {
    builder.cover("vector-loops");
    let integers = &Kind::ALL[1..];
    let (kind, narrow) = (*builder.random.pick(integers), *builder.random.pick(integers));
    let unsigned = if kind.bits == 64 { Kind::U64 } else { Kind::U32 };
    let element = Scope::new(&[("a", kind), ("b", narrow)]);
    let length = builder.random.between(9, 70);
    let floating = builder.choose(&["double", "float"]);
    if builder.random.chance(60) {
        builder.cover("vector-types");
        explicit_vectors(builder);
    }
    let values = [
        ("kind", kind.name()),
        ("narrow", narrow.name()),
        ("unsigned", unsigned.name()),
        ("length", length.to_string()),
        ("map", element.text(&mut builder.random, 2)),
        ("condition", element.text(&mut builder.random, 1)),
        ("floating", floating),
        ("stride", builder.number(2, 3)),
        ("fill", builder.number(0, 100)),
        ("factor", builder.number(2, 200)),
    ];
    builder.section(
        "vectors",
        r#"
static @kind @self_left[@length], @self_result[@length];
static @narrow @self_right[@length];
static @floating @self_real[@length];
@static @unsigned @self_sum(const @kind *values, int count) {
    @unsigned sum = 0;
    for (int i = 0; i < count; i++) sum += (@unsigned)values[i];
    return sum;
}
@static uint64_t @self_dot(const @kind *restrict left, const @narrow *restrict right, int count) {
    uint64_t sum = 0;
    for (int i = 0; i < count; i++) sum += (uint64_t)left[i] * (uint64_t)right[i];
    return sum;
}
@static void @self_map(@kind *restrict to, const @kind *restrict left, const @narrow *restrict right, int count) {
    for (int i = 0; i < count; i++) {
        @kind a = left[i];
        @narrow b = right[i];
        to[i] = (@kind)(@map);
    }
}
@static uint64_t @self(void) {
    int count = @length - (int)(take() % 5);
    for (int i = 0; i < @length; i++) {
        uint64_t word = take();
        @self_left[i] = (@kind)word;
        @self_right[i] = (@narrow)(word >> 17);
        @self_real[i] = (@floating)(int32_t)word / 256;
    }
    show("sum", @self_sum(@self_left, count));
    show("dot", @self_dot(@self_left, @self_right, count));
    @self_map(@self_result, @self_left, @self_right, count);
    show("map", @self_sum(@self_result, @length));
    @kind least = @self_left[0], most = @self_left[0];
    uint32_t chosen = 0, bits = 0;
    for (int i = 0; i < count; i++) {
        if (@self_left[i] < least) least = @self_left[i];
        most = @self_left[i] > most ? @self_left[i] : most;
    }
    show("range", (uint64_t)least * 3 + (uint64_t)most);
    for (int i = 0; i < count; i++) {
        @kind a = @self_result[i];
        @narrow b = @self_right[i];
        chosen += @condition ? (uint32_t)b : 1u;
        bits ^= (uint32_t)a << (i & 7);
    }
    show("chosen", chosen + (uint64_t)bits * 3);
    for (int i = 0; i < count / @stride; i++) @self_result[i] = @self_left[i * @stride];
    for (int i = 0; i < count; i++) @self_right[i] = (@narrow)@fill;
    show("strided", @self_sum(@self_result, count) + (uint64_t)@self_right[count - 1]);
    @floating largest = @self_real[0], total = 0;
    for (int i = 0; i < count; i++) @self_real[i] = @self_real[i] * 0.5f + (@floating)@factor;
    for (int i = 0; i < count; i++) largest = @self_real[i] > largest ? @self_real[i] : largest;
    for (int i = count - 1; i >= 0; i--) total += @self_real[i];
    show_double("largest", (double)largest);
    show_double("total", (double)total);
    for (int i = 1; i < count; i++) @self_left[i] = (@kind)((@unsigned)@self_left[i] + (@unsigned)@self_left[i - 1] * @factor);
    return (uint64_t)@self_left[count - 1];
}
"#,
        &values,
    );
}

/// The vector extension that gcc and clang share.
fn explicit_vectors(builder: &mut Builder) {
    let values = [
        ("operator", builder.choose(&["+", "-", "*", "&", "^"])),
        ("shift", builder.number(1, 15)),
        ("lane", builder.number(0, 3)),
        ("rounds", builder.number(2, 6)),
    ];
    builder.section(
        "lanes",
        r#"
typedef uint32_t @self_words __attribute__((vector_size(16)));
typedef int32_t @self_ints __attribute__((vector_size(16)));
typedef float @self_reals __attribute__((vector_size(16)));
@static uint64_t @self(void) {
    @self_words a = {1, 2, 3, 4}, b = {5, 6, 7, 8};
    @self_reals r = {0.5f, 1.5f, -2.0f, 8.0f};
    uint64_t hash = 0;
    for (int round = 0; round < @rounds; round++) {
        b[round & 3] = (uint32_t)take();
        a = (a @operator b) + (b >> @shift);
        @self_ints less = a < b, signs = (@self_ints)a >> @shift;
        a ^= (@self_words)less & 0xff;
        r = r * 0.75f + (@self_reals){1, 2, 3, (float)round};
        hash = hash * 31 + a[@lane] + (uint64_t)signs[3 - @lane] + (uint64_t)less[round & 3];
        show("lane", hash);
        show_double("real", (double)r[@lane]);
    }
    return hash;
}
"#,
        &values,
    );
}
