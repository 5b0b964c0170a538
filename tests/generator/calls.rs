//! Calls: recursion, mutual recursion, function pointers in variables and tables, structs of many sizes by value.

use super::builder::Builder;
use super::expression::Scope;
use super::kind::Kind;

pub fn section(builder: &mut Builder) {
    match builder.random.below(3) {
        0 => recursion(builder),
        1 => function_pointers(builder),
        _ => structs_by_value(builder),
    }
}

fn recursion(builder: &mut Builder) {
    builder.cover("recursion");
    builder.cover("mutual-recursion");
    let scope = Scope::new(&[("n", Kind::I32), ("x", Kind::U32)]);
    let values = [
        ("leaf", scope.text(&mut builder.random, 2)),
        ("odd", scope.text(&mut builder.random, 2)),
        ("even", scope.text(&mut builder.random, 2)),
        ("depth", builder.number(10, 40)),
        ("fib", builder.number(5, 11)),
        ("first", builder.number(1, 2)),
        ("second", builder.number(3, 9)),
        ("discs", builder.number(2, 6)),
    ];
    builder.section(
        "recursion",
        r#"
static uint32_t @self_even(int n, uint32_t x);
@static uint32_t @self_odd(int n, uint32_t x) { return n <= 0 ? x : @self_even(n - 1, x ^ (uint32_t)(@odd)); }
static uint32_t @self_even(int n, uint32_t x) {
    if (n <= 0) return x * 3;
    return @self_odd(n - 1, x + (uint32_t)(@even));
}
@static uint64_t @self_fib(int n, uint32_t x) {
    if (n < 2) return (uint64_t)(@leaf);
    uint64_t left = @self_fib(n - @first, x);
    return left * 3 + @self_fib(n - 2, x + 1);
}
static unsigned @self_ackermann(unsigned m, unsigned n) {
    return m == 0 ? n + 1 : n == 0 ? @self_ackermann(m - 1, 1) : @self_ackermann(m - 1, @self_ackermann(m, n - 1));
}
static void @self_hanoi(int discs, char from, char to, char spare, uint64_t *moves) {
    if (!discs) return;
    @self_hanoi(discs - 1, from, spare, to, moves);
    *moves = *moves * 11 + (uint64_t)(from * 3 + to);
    @self_hanoi(discs - 1, spare, to, from, moves);
}
static unsigned @self_permute(uint8_t *items, int at, int count, unsigned hash) {
    if (at == count) return hash * 31 + (unsigned)(items[0] * 4 + items[count - 1]);
    for (int i = at; i < count; i++) {
        uint8_t kept = items[at];
        items[at] = items[i], items[i] = kept;
        hash = @self_permute(items, at + 1, count, hash + (unsigned)i);
        kept = items[at];
        items[at] = items[i], items[i] = kept;
    }
    return hash;
}
@static uint64_t @self(void) {
    uint32_t x = (uint32_t)take();
    uint64_t moves = take();
    show("mutual", @self_even(@depth, x));
    show("fib", @self_fib(@fib, x));
    show("ackermann", @self_ackermann(2, @second));
    @self_hanoi(@discs, 'a', 'c', 'b', &moves);
    show("moves", moves);
    uint8_t items[4] = {(uint8_t)x, 2, (uint8_t)(x >> 8), 4};
    return moves + @self_permute(items, 0, 4, x);
}
"#,
        &values,
    );
}

fn function_pointers(builder: &mut Builder) {
    builder.cover("function-pointers");
    let scope = Scope::new(&[("x", Kind::I32), ("y", Kind::I32)]);
    let mut values: Vec<(&str, String)> = Vec::new();
    for key in ["one", "two", "three", "four"] {
        values.push((key, scope.text(&mut builder.random, 2)));
    }
    values.push(("rounds", builder.number(4, 14)));
    values.push(("pick", builder.number(2, 7)));
    builder.section(
        "callback",
        r#"
typedef int32_t (*@self_operation)(int32_t, int32_t);
typedef struct { const char *name; @self_operation apply; uint64_t uses; } @self_entry;
@static int32_t @self_first(int32_t x, int32_t y) { return (int32_t)(@one); }
@static int32_t @self_second(int32_t x, int32_t y) { return (int32_t)(@two); }
static int32_t @self_third(int32_t x, int32_t y) { return (int32_t)((uint32_t)@self_first(y, x) + (uint32_t)(@three)); }
static @self_entry @self_table[] = {{"first", @self_first, 0}, {"second", &@self_second, 0}, {"third", @self_third, 0}};
@static @self_operation @self_choose(unsigned which) {
    if (which % @pick == 0) return NULL;
    return @self_table[which % 3].apply;
}
@static int32_t @self_fold(const int32_t *values, int count, int32_t start, int32_t (*step)(int32_t, int32_t)) {
    for (int i = 0; i < count; i++) start = step(start, values[i]);
    return start;
}
@static void @self_each(int32_t *values, int count, void (*visit)(int32_t *, void *), void *context) {
    for (int i = 0; i < count; i++) visit(&values[i], context);
}
static void @self_visit(int32_t *value, void *context) {
    uint64_t *sum = context;
    int32_t x = *value, y = (int32_t)*sum;
    *value = (int32_t)(@four);
    *sum = *sum * 3 + (uint64_t)x;
}
@static uint64_t @self(void) {
    int32_t values[6];
    uint64_t sum = 1;
    for (int i = 0; i < 6; i++) values[i] = (int32_t)take();
    for (unsigned round = 0; round < @rounds; round++) {
        @self_operation operation = @self_choose(round + (unsigned)(sum % 3));
        if (operation == NULL) continue;
        @self_entry *entry = &@self_table[sum % 3];
        int32_t result = (operation == @self_third ? operation : entry->apply)(values[round % 6], (int32_t)sum);
        entry->uses += (uint64_t)(result & 15);
        values[(round + 1) % 6] = (*operation)(result, values[0]);
        show(entry->name, entry->uses ^ (uint64_t)result);
        sum += (uint64_t)@self_fold(values, 6, result, operation);
    }
    @self_each(values, 6, @self_visit, &sum);
    return sum ^ (uint64_t)@self_fold(values, 6, 7, @self_second);
}
"#,
        &values,
    );
}

/// Struct members by size: the calling convention splits, packs or spills them.
/// From `FIRST_LARGE` on they exceed two registers.
const MEMBERS: [&str; 12] = [
    "int32_t a;",
    "int16_t a; int8_t b;",
    "float a; float b;",
    "float a; int32_t b;",
    "double a; int8_t b;",
    "int64_t a; double b;",
    "float a; float b; float c;",
    "double a; double b;",
    "uint8_t a[5]; uint8_t b;",
    "int64_t a; int64_t b; int32_t c;",
    "double a; int64_t b; float c; int8_t d; double e;",
    "int64_t a; int32_t b; int32_t c; double d; int64_t e; int16_t f;",
];

const FIRST_LARGE: usize = 9;

fn structs_by_value(builder: &mut Builder) {
    builder.cover("struct-by-value");
    let mut values: Vec<(&str, String)> = Vec::new();
    for (type_key, make_key, hash_key) in [("t1", "m1", "h1"), ("t2", "m2", "h2"), ("t3", "m3", "h3")] {
        let large = type_key == "t3" && builder.random.chance(75);
        let members = *builder.random.pick(if large { &MEMBERS[FIRST_LARGE..] } else { &MEMBERS });
        if members.contains("float") || members.contains("double") {
            builder.cover("struct-by-value-floating");
        }
        if large {
            builder.cover("struct-by-value-large");
        }
        let (make, hash) = make_and_hash(members);
        values.extend([(type_key, members.to_string()), (make_key, make), (hash_key, hash)]);
    }
    values.push(("rounds", builder.number(2, 5)));
    builder.section(
        "byvalue",
        r#"
typedef struct { @t1 } @self_first;
typedef struct { @t2 } @self_second;
typedef struct { @t3 } @self_third;
typedef struct { char tag; @self_first first; @self_second pair[2]; } @self_all;
@static @self_first @self_make1(uint32_t x) { @self_first s; @m1 return s; }
@static @self_second @self_make2(uint32_t x) { @self_second s; @m2 return s; }
@static @self_third @self_make3(uint32_t x) { @self_third s; @m3 return s; }
@static uint64_t @self_hash1(@self_first s) { return @h1; }
@static uint64_t @self_hash2(@self_second s) { return @h2; }
@static uint64_t @self_hash3(@self_third s) { return @h3; }
@static uint64_t @self_mixed(int a, @self_first s, double b, @self_second t, uint64_t c, float d, @self_third u, int8_t e, @self_second v) {
    uint64_t hash = @self_hash1(s) + 3 * @self_hash2(t);
    hash = hash * 5 + @self_hash3(u) + 7 * @self_hash2(v);
    return hash + (uint64_t)a + (uint64_t)(b * 2.0) + c + (uint64_t)(d * 4.0f) + (uint64_t)e;
}
@static @self_all @self_join(@self_first s, @self_second t) {
    @self_all all = {'j', s, {t, t}};
    all.pair[1] = @self_make2((uint32_t)@self_hash1(s));
    return all;
}
@static uint64_t @self(void) {
    uint64_t total = 0;
    for (int round = 0; round < @rounds; round++) {
        uint32_t x = (uint32_t)take();
        @self_first s = @self_make1(x);
        @self_second t = @self_make2(x >> 3), v = @self_make2(x + 9);
        @self_third u = @self_make3(x ^ 77);
        @self_third (*make)(uint32_t) = @self_make3;
        show("first", @self_hash1(s));
        show("second", @self_hash2(t));
        show("third", @self_hash3(u) + @self_hash3(make(x)));
        total = total * 3 + @self_mixed(round, s, (double)(x & 255), t, x, (float)(x & 7), u, (int8_t)(x & 63), v);
        show("mixed", total);
        @self_all all = @self_join(s, v);
        show("joined", @self_hash1(all.first) + @self_hash2(all.pair[0]) * 3 + @self_hash2(all.pair[1]) + (uint64_t)all.tag);
        total += @self_hash1(@self_join(@self_make1(x + 1), t).first);
    }
    return total;
}
"#,
        &values,
    );
}

/// The statements that set every member from `x`, and an expression that hashes every member of `s`.
fn make_and_hash(members: &str) -> (String, String) {
    let (mut make, mut hash) = (String::new(), "UINT64_C(17)".to_string());
    for (index, member) in members.split_terminator(';').enumerate() {
        let (kind, name) = member.trim().split_once(' ').expect("a type and a name");
        let shift = index * 3;
        if let Some(name) = name.strip_suffix("[5]") {
            make.push_str(&format!("for (int i = 0; i < 5; i++) s.{name}[i] = ({kind})(x >> i); "));
            hash.push_str(&format!(" + (uint64_t)s.{name}[0] + 5 * (uint64_t)s.{name}[4]"));
        } else if kind == "float" || kind == "double" {
            // Small multiples of a quarter are exact in both types, and positive ones convert to unsigned.
            make.push_str(&format!("s.{name} = ({kind})((x >> {shift}) & 4095) / 4; "));
            hash.push_str(&format!(" + {} * (uint64_t)(s.{name} * 4)", index + 2));
        } else {
            make.push_str(&format!("s.{name} = ({kind})(x * {}u >> {shift}); ", index * 40 + 1));
            hash.push_str(&format!(" + {} * (uint64_t)s.{name}", index + 2));
        }
    }
    (make, hash)
}
