//! Structs, unions, bit-fields: nested and in arrays, copied, initialised by designators, packed, with anonymous and
//! flexible members. No padding byte is ever read, and no bit-field wider than `int` is used before a cast (compilers
//! disagree on its promotion).

use super::builder::Builder;
use super::expression::Scope;
use super::kind::Kind;

pub fn section(builder: &mut Builder) {
    match builder.random.below(4) {
        0 => records(builder),
        1 => unions(builder),
        2 => bit_fields(builder),
        _ => layouts(builder),
    }
}

fn records(builder: &mut Builder) {
    builder.cover("structs");
    builder.cover("nested-structs");
    builder.cover("array-of-structs");
    builder.cover("compound-literal");
    let kinds: Vec<String> = (0..4).map(|_| builder.random.pick(&Kind::ALL).name()).collect();
    let scope = Scope::new(&[("x", Kind::U32), ("i", Kind::I32), ("y", Kind::I64)]);
    let count = builder.random.between(3, 6);
    let values = [
        ("first", kinds[0].clone()),
        ("second", kinds[1].clone()),
        ("third", kinds[2].clone()),
        ("fourth", kinds[3].clone()),
        ("count", count.to_string()),
        ("filled", builder.random.below(count as u64).to_string()),
        ("one", scope.text(&mut builder.random, 2)),
        ("two", scope.text(&mut builder.random, 2)),
        ("three", scope.text(&mut builder.random, 2)),
    ];
    builder.section(
        "record",
        r#"
typedef struct @self_point { @first x; @second y; } @self_point;
typedef struct {
    @third tag;
    @self_point corner[2];
    struct { @fourth weight; double scale; struct @self_point inner; } body;
    const char *label;
} @self_record;
static @self_record @self_table[@count] = {
    [@filled] = {.tag = 1, .corner = {{1, 0}, {.y = 1}}, .body = {.scale = 0.5, .inner.x = 1}, .label = "filled"},
};
@inner uint64_t @self_hash(const @self_record *record) {
    uint64_t hash = (uint64_t)record->tag;
    for (int i = 0; i < 2; i++) hash = hash * 31 + (uint64_t)record->corner[i].x * 7 + (uint64_t)record->corner[i].y;
    hash = hash * 31 + (uint64_t)record->body.weight + (uint64_t)(record->body.scale * 8.0);
    hash = hash * 31 + (uint64_t)record->body.inner.x + 3 * (uint64_t)record->body.inner.y;
    return hash + (record->label ? strlen(record->label) : 99);
}
@static uint64_t @self(void) {
    uint64_t total = 0;
    for (int i = 0; i < @count; i++) {
        uint32_t x = (uint32_t)take();
        int64_t y = (int64_t)take();
        @self_record fresh = {.tag = (@third)(@one), .label = i & 1 ? "odd" : NULL};
        fresh.corner[i & 1] = (@self_point){(@first)(@two), .y = (@second)x};
        fresh.body.inner = fresh.corner[0];
        fresh.body.inner.y = (@second)(@three);
        fresh.body.weight = (@fourth)y;
        fresh.body.scale = (double)(x & 1023);
        show("fresh", @self_hash(&fresh));
        show("before", @self_hash(&@self_table[i]));
        if (x & 1) @self_table[i] = fresh;
        @self_record *previous = &@self_table[i ? i - 1 : 0];
        previous->corner[1] = @self_table[i].corner[0];
        total = total * 5 + @self_hash(previous);
    }
    @self_point points[3] = {{1, 0}, {0, 1}}, *last = points + 2;
    *last = points[(total >> 3) & 1];
    return total + (uint64_t)last->x * 2 + (uint64_t)last[-1].y;
}
"#,
        &values,
    );
}

fn unions(builder: &mut Builder) {
    builder.cover("unions");
    builder.cover("anonymous-members");
    let values = [("rounds", builder.number(4, 9)), ("mask", builder.number(1, 0x7fff)), ("lane", builder.number(0, 3))];
    builder.section(
        "union",
        r#"
typedef union {
    uint64_t whole;
    uint32_t half[2];
    uint16_t quarter[4];
    uint8_t bytes[8];
    struct { uint8_t low, next; uint16_t middle; uint32_t high; } parts;
    double real;
    float single[2];
} @self_word;
typedef struct {
    enum @self_tag { @self_NUMBER, @self_REAL, @self_TEXT, @self_PAIR = 7 } tag;
    union {
        int64_t number;
        double real;
        char text[12];
        struct { int16_t left; uint16_t right; };
    };
} @self_value;
@static @self_value @self_make(uint64_t seed) {
    @self_value value;
    switch (seed % 4) {
    case 0: value.tag = @self_NUMBER; value.number = (int64_t)seed; break;
    case 1: value.tag = @self_REAL; value.real = (double)(seed >> 40) / 16.0; break;
    case 2: value.tag = @self_TEXT; snprintf(value.text, sizeof value.text, "t%u", (unsigned)(seed >> 50)); break;
    default: value.tag = @self_PAIR; value.left = (int16_t)(seed >> 8); value.right = (uint16_t)(seed >> 24);
    }
    return value;
}
@static uint64_t @self_read(const @self_value *value) {
    switch (value->tag) {
    case @self_NUMBER: return (uint64_t)value->number;
    case @self_REAL: return (uint64_t)(value->real * 32.0);
    case @self_TEXT: return strlen(value->text) * 1000 + (uint64_t)value->text[1];
    case @self_PAIR: return (uint64_t)(value->left * 3 + value->right);
    }
    return 0;
}
@static uint64_t @self(void) {
    uint64_t total = 0;
    for (int round = 0; round < @rounds; round++) {
        @self_word word = {.whole = take()};
        word.quarter[@lane] ^= @mask;
        word.bytes[round % 8] += 3;
        total = total * 3 + word.half[round & 1] + word.parts.middle + word.parts.low;
        word.parts.high = (uint32_t)round;
        show("word", word.whole);
        word.real = (double)(int32_t)word.half[0] * 0.25;
        show("real", word.whole);
        word.single[0] = (float)(round + 1) / 4.0f;
        show("single", word.half[0]);
        @self_value value = @self_make(take()), copy = value;
        show("value", @self_read(&copy) + value.tag);
    }
    return total;
}
"#,
        &values,
    );
}

fn bit_fields(builder: &mut Builder) {
    builder.cover("bit-fields");
    let widths: Vec<i64> = [(1, 7), (3, 13), (2, 9), (5, 31), (2, 15), (33, 60)]
        .iter()
        .map(|(low, high)| builder.random.between(*low, *high))
        .collect();
    let scope = Scope::new(&[("x", Kind::U32), ("y", Kind::I32), ("z", Kind::U64)]);
    let mut values: Vec<(&str, String)> =
        ["wa", "wb", "wc", "wd", "we", "wf"].into_iter().zip(widths.iter().map(i64::to_string)).collect();
    for key in ["one", "two", "three", "four", "five"] {
        values.push((key, scope.text(&mut builder.random, 2)));
    }
    values.push(("rounds", builder.number(3, 8)));
    values.push(("gap", builder.choose(&["", "unsigned : 0;", "unsigned : 3;"])));
    builder.section(
        "bitfield",
        r#"
struct @self_flags {
    unsigned a : @wa;
    signed int b : @wb;
    uint8_t whole;
    @gap
    unsigned c : @wc;
    signed int d : @wd;
    _Bool set : 1;
    uint16_t e : @we;
    uint64_t f : @wf;
};
static struct @self_flags @self_initial = {1, -2, 200, 3, -7, 1, 2, UINT64_C(0x123456789)};
@inner struct @self_flags @self_next(struct @self_flags flags) {
    flags.a++;
    flags.b = -flags.b;
    flags.f += flags.whole;
    return flags;
}
@static uint64_t @self(void) {
    struct @self_flags flags[2] = {@self_initial, {.f = 5}};
    uint64_t total = 0;
    for (int round = 0; round < @rounds; round++) {
        uint32_t x = (uint32_t)take();
        int32_t y = (int32_t)take();
        uint64_t z = take();
        struct @self_flags *p = &flags[round & 1];
        p->a = (unsigned)(@one);
        p->b = (int)(@two);
        p->c ^= (unsigned)(@three);
        p->d = (int)(@four);
        p->e = (uint16_t)(p->e * 5 + 1);
        p->f = (uint64_t)(@five);
        p->set = (x & 4) != 0;
        p->whole = (uint8_t)z;
        p->f ^= z >> 7;
        if (p->set) p->c |= 1u; else p->c &= ~1u;
        show("unsigned", (uint64_t)p->a + (uint64_t)p->c * 1024 + (uint64_t)p->e * 65536);
        show("signed", (uint64_t)(int64_t)p->b ^ (uint64_t)(int64_t)p->d << 32);
        show("long", (uint64_t)p->f);
        flags[(round + 1) & 1] = @self_next(*p);
        total = total * 3 + (uint64_t)flags[0].a + (uint64_t)flags[1].f + (uint64_t)(flags[0].b < flags[1].d);
        if (flags[0].whole > p->whole || flags[1].set) total ^= flags[1].whole;
    }
    return total;
}
"#,
        &values,
    );
}

fn layouts(builder: &mut Builder) {
    builder.cover("packed");
    builder.cover("flexible-array");
    builder.cover("generic-selection");
    let values = [
        ("first", builder.random.pick(&Kind::ALL[1..]).name()),
        ("second", builder.random.pick(&Kind::ALL[1..]).name()),
        ("align", builder.choose(&["8", "16", "32", "64"])),
        ("count", builder.number(2, 12)),
    ];
    builder.section(
        "layout",
        r#"
#define @self_WIDTH(x) _Generic((x), int8_t: 1, uint8_t: 2, int16_t: 3, uint16_t: 4, int32_t: 5, uint32_t: 6, default: 9)
struct __attribute__((packed)) @self_packed { uint8_t tag; @first value; uint16_t pair[2]; @second tail; };
struct @self_aligned { char start; _Alignas(@align) @first value; };
struct @self_buffer { uint16_t used; @second items[]; };
@inner uint64_t @self_sum(const struct @self_buffer *buffer) {
    uint64_t sum = 0;
    for (unsigned i = 0; i < buffer->used; i++) sum = sum * 3 + (uint64_t)buffer->items[i];
    return sum;
}
@static uint64_t @self(void) {
    struct @self_packed packed[3];
    memset(packed, 0, sizeof packed);
    for (unsigned i = 0; i < 3; i++) {
        packed[i].tag = (uint8_t)i;
        packed[i].value = (@first)take();
        packed[i].pair[i & 1] = (uint16_t)take();
        packed[2 - i].tail += (@second)(take() & 7);
    }
    const unsigned char *bytes = (const unsigned char *)packed;
    uint64_t hash = sizeof packed;
    for (size_t i = 0; i < sizeof packed; i++) hash = hash * 31 + bytes[i];
    show("packed", hash);
    struct @self_aligned aligned[2] = {{'a', 1}, {'b', 2}};
    aligned[1].value = (@first)(aligned[0].value + packed[1].value % 100);
    show("aligned", (uint64_t)aligned[1].value + sizeof aligned + (uintptr_t)&aligned[1].value % @align);
    show("offset", offsetof(struct @self_aligned, value) + 100 * offsetof(struct @self_packed, tail));
    struct @self_buffer *buffer = malloc(sizeof *buffer + @count * sizeof buffer->items[0]);
    if (!buffer) return 0;
    for (buffer->used = 0; buffer->used < @count; buffer->used++) buffer->items[buffer->used] = (@second)take();
    show("buffer", hash ^= @self_sum(buffer));
    show("width", @self_WIDTH(aligned[0].value) + 10 * @self_WIDTH(packed[0].tail) + 100 * @self_WIDTH((uint8_t)1 + 1));
    free(buffer);
    return hash;
}
"#,
        &values,
    );
}
