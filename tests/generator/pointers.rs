//! Arrays and pointers: multi-dimensional arrays, pointer arithmetic and differences, pointers to pointers, pointers to
//! arrays, arrays of variable length, `alloca`.

use super::builder::Builder;
use super::expression::Scope;
use super::kind::Kind;

pub fn section(builder: &mut Builder) {
    match builder.random.below(3) {
        0 => walks(builder),
        1 => matrices(builder),
        _ => variable_length(builder),
    }
}

fn walks(builder: &mut Builder) {
    builder.cover("pointer-arithmetic");
    builder.cover("pointer-to-pointer");
    let kind = *builder.random.pick(&Kind::ALL[1..]);
    let length = builder.random.between(8, 24);
    let scope = Scope::new(&[("x", kind), ("i", Kind::I32), ("key", Kind::U32)]);
    let values = [
        ("kind", kind.name()),
        ("length", length.to_string()),
        ("value", scope.text(&mut builder.random, 2)),
        ("stride", builder.number(2, 3)),
        ("offset", builder.number(1, 7)),
        ("index", builder.random.below(length as u64).to_string()),
    ];
    builder.section(
        "walk",
        r#"
@inner const @kind *@self_find(const @kind *from, const @kind *to, @kind wanted) {
    for (; from != to; ++from)
        if (*from >= wanted) return from;
    return NULL;
}
@inner void @self_swap(@kind **left, @kind **right) {
    @kind *kept = *left;
    *left = *right;
    *right = kept;
}
@inner void @self_reverse(@kind *first, @kind *last) {
    while (first < last) {
        @kind kept = *first;
        *first++ = *last;
        *last-- = kept;
    }
}
@static uint64_t @self(void) {
    @kind values[@length];
    uint32_t key = (uint32_t)take();
    @kind x = (@kind)key;
    for (int i = 0; i < @length; i++) {
        x = (@kind)(@value);
        values[i] = (@kind)(x ^ (@kind)take());
    }
    @kind *p = values, *q = &values[@length - 1], **pp = &p;
    uint64_t sum = 0;
    for (; p < values + @length - @stride; p += @stride) sum = sum * 3 + (uint64_t)*p + (uint64_t)p[1];
    show("strided", sum);
    show("distance", (uint64_t)(q - p));
    p = values;
    while (p <= q) {
        if (*p > *q) @self_swap(pp, &q), @self_swap(&p, &q);
        sum += (uint64_t)*(*pp)++ ^ (uint64_t)*q--;
    }
    show("ends", sum);
    const @kind *found = @self_find(values, values + @length, (@kind)key);
    show("found", found ? (uint64_t)(found - values) : UINT64_MAX);
    @self_reverse(values + 1, values + @offset);
    (&values[@index])[0] = (@kind)((uint64_t)*(values + @index) + 3);
    (@index)[values] ^= (@kind)5;
    const unsigned char *bytes = (const unsigned char *)values;
    for (size_t i = 0; i < sizeof values; i++) sum = sum * 31 + bytes[i];
    show("order", (uint64_t)((p < q) + 2 * (p == q) + 4 * (&values[1] > values) + 8 * (found == NULL)));
    return sum;
}
"#,
        &values,
    );
}

fn matrices(builder: &mut Builder) {
    builder.cover("array-2d");
    let kind = *builder.random.pick(&[Kind::U32, Kind::U64]);
    let scope = Scope::new(&[("i", Kind::I32), ("j", Kind::I32), ("key", kind)]);
    let values = [
        ("kind", kind.name()),
        ("size", builder.number(2, 5)),
        ("depth", builder.number(2, 3)),
        ("value", scope.text(&mut builder.random, 3)),
        ("modulus", builder.number(5, 9999)),
    ];
    builder.section(
        "matrix",
        r#"
enum { @self_SIZE = @size };
typedef @kind @self_matrix[@self_SIZE][@self_SIZE];
static @self_matrix @self_stack[@depth] = {{{1, 2}, {3}}, {[1] = {[0] = 9}}};
@inner void @self_multiply(@self_matrix to, @kind (*left)[@self_SIZE], const @self_matrix right) {
    for (int i = 0; i < @self_SIZE; i++)
        for (int j = 0; j < @self_SIZE; j++) {
            @kind sum = 0;
            for (int k = 0; k < @self_SIZE; k++) sum += left[i][k] * right[k][j];
            to[i][j] = sum % @modulus;
        }
}
@static uint64_t @self(void) {
    @self_matrix a, product;
    @kind key = (@kind)take(), trace = 0;
    for (int i = 0; i < @self_SIZE; i++)
        for (int j = 0; j < @self_SIZE; j++) a[i][j] = (@kind)(@value);
    for (int round = 0; round < @depth; round++) {
        @self_multiply(product, a, @self_stack[round]);
        memcpy(@self_stack[(round + 1) % @depth], product, sizeof product);
        for (int i = 0; i < @self_SIZE; i++) trace = trace * 5 + product[i][@self_SIZE - 1 - i];
        show("trace", trace);
    }
    @kind (*row)[@self_SIZE] = @self_stack[@depth - 1];
    for (row++; row < @self_stack[@depth - 1] + @self_SIZE; row++) trace ^= (*row)[0] + row[-1][1];
    @kind *flat = &@self_stack[0][1][0];
    show("flat", flat[@self_SIZE - 1] + (uint64_t)(&@self_stack[1][0][0] - &@self_stack[1][0][1]));
    return trace;
}
"#,
        &values,
    );
}

fn variable_length(builder: &mut Builder) {
    builder.cover("vla");
    builder.cover("alloca");
    let kind = *builder.random.pick(&Kind::ALL[1..]);
    let values = [
        ("kind", kind.name()),
        ("least", builder.number(1, 5)),
        ("rounds", builder.number(2, 6)),
        ("factor", builder.number(3, 99)),
        ("bytes", builder.number(8, 40)),
    ];
    builder.section(
        "vla",
        r#"
@static uint64_t @self_table(int rows, int columns, uint32_t key) {
    @kind table[rows][columns];
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++) table[i][j] = (@kind)((uint32_t)(i * @factor + j) ^ key);
    uint64_t sum = sizeof table / sizeof table[0] + sizeof table[0] / sizeof table[0][0];
    for (int j = 0; j < columns; j++)
        for (int i = rows - 1; i >= 0; i--) sum = sum * 7 + (uint64_t)table[i][j];
    return sum;
}
@static uint32_t @self_scratch(unsigned count) {
    unsigned char *bytes = alloca(count);
    uint32_t *words = __builtin_alloca(4 * sizeof *words);
    memset(bytes, 0x5a, count);
    for (int i = 0; i < 4; i++) words[i] = count * (unsigned)i;
    for (unsigned i = 0; i < count; i++) words[i % 4] = words[i % 4] * 33 + (bytes[i] ^ i);
    return words[0] ^ words[1] ^ words[2] ^ words[3];
}
@static uint64_t @self_sum(int count, const @kind values[count]) {
    uint64_t sum = 0;
    for (int i = 0; i < count; i++) sum += (uint64_t)values[i];
    return sum;
}
@static uint64_t @self(void) {
    uint64_t total = 0;
    for (int round = 0; round < @rounds; round++) {
        int rows = @least + (int)(take() % 4), columns = 1 + round;
        uint32_t key = (uint32_t)take();
        show("table", total = total * 3 + @self_table(rows, columns, key));
        @kind list[rows + columns];
        for (int i = 0; i < rows + columns; i++) list[i] = (@kind)((unsigned)i * key);
        show("list", total ^= @self_sum(rows + columns, list));
        show("scratch", @self_scratch((unsigned)(@bytes + round)));
    }
    return total;
}
"#,
        &values,
    );
}
