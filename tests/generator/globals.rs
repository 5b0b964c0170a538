//! Objects of static storage: initialisers with addresses (into arrays, members, strings, functions), self-references,
//! static locals, thread-local variables, atomics used by one thread.

use super::builder::Builder;
use super::kind::Kind;

pub fn section(builder: &mut Builder) {
    match builder.random.below(3) {
        0 => relocations(builder),
        1 => static_locals(builder),
        _ => atomics(builder),
    }
}

fn relocations(builder: &mut Builder) {
    builder.cover("global-initialisers");
    builder.cover("relocations");
    let kind = *builder.random.pick(&Kind::ALL[1..]);
    let length = builder.random.between(4, 9);
    let numbers: Vec<String> = (0..length).map(|_| builder.random.below(128).to_string()).collect();
    let values = [
        ("kind", kind.name()),
        ("length", length.to_string()),
        ("numbers", numbers.join(", ")),
        ("index", builder.random.below(length as u64).to_string()),
        ("word", builder.choose(&["alpha", "beta gamma", "", "delta\\n\\x01\\377"])),
        ("real", builder.choose(&["1.5", "-0.125", "1e10", "3.0 / 7.0"])),
        ("skip", builder.number(0, 2)),
    ];
    builder.section(
        "globals",
        r#"
struct @self_node { const char *name; struct @self_node *next; const @kind *values; uint64_t (*weigh)(const struct @self_node *); };
static uint64_t @self_light(const struct @self_node *node);
static uint64_t @self_heavy(const struct @self_node *node) { return (uint64_t)*node->values * 1000 + strlen(node->name); }
static const @kind @self_numbers[@length] = {@numbers};
static @kind @self_changing[@length + 2] = {[@index] = 11};
extern struct @self_node @self_third;
static struct @self_node @self_first = {"first" + @skip, &@self_third, &@self_numbers[@index], @self_light};
static struct @self_node @self_ring[2] = {
    {.name = "@word", .next = &@self_ring[1], .values = @self_changing + @index, .weigh = @self_heavy},
    {.name = "ring" "end", .next = @self_ring, .values = @self_numbers + @length - 1, .weigh = @self_light},
};
struct @self_node @self_third = {"third", &@self_ring[1], @self_changing + @length, @self_heavy};
static const char *const @self_words[] = {"zero", [3] = "three", "four", [2] = &"xtwo"[1]};
static char @self_text[] = "text with \0 inside", @self_padded[12] = "pad";
static double @self_real = @real;
static const struct { int8_t small; @kind list[3]; const char *text; float real; } @self_constant = {-3, {1, 2}, @self_text + 5, 0.75f};
static void *@self_own = &@self_own;
static uint64_t (*const @self_weigh[])(const struct @self_node *) = {@self_light, @self_heavy};
static const uintptr_t @self_address = (uintptr_t)&@self_ring[1];
static uint64_t @self_zero[4];
static uint64_t @self_light(const struct @self_node *node) { return (uint64_t)node->values[0] + (uint64_t)node->name[0]; }
@static uint64_t @self(void) {
    uint64_t total = 0;
    const struct @self_node *node = &@self_first;
    for (int step = 0; step < 6; step++, node = node->next) {
        total = total * 3 + node->weigh(node);
        show(node->name, total);
        @self_changing[step % @length] += 1;
        @self_zero[step % 4] += total;
    }
    for (int i = 0; i < 5; i++) printf("word %s\n", @self_words[i] ? @self_words[i] : "none");
    show("text", sizeof @self_text + 100 * strlen(@self_text) + 10000 * (uint64_t)@self_padded[3]);
    show("own", (uint64_t)(@self_own == (void *)&@self_own) + 2 * (uint64_t)(@self_address == (uintptr_t)@self_third.next));
    show("constant", (uint64_t)(@self_constant.small + @self_constant.list[1] * 2) + strlen(@self_constant.text));
    @self_real = @self_real * 4.0 + @self_constant.real;
    show_double("real", @self_real);
    return total + @self_weigh[total & 1](&@self_ring[(total >> 1) & 1]) + @self_zero[1];
}
"#,
        &values,
    );
}

fn static_locals(builder: &mut Builder) {
    builder.cover("static-locals");
    builder.cover("thread-local");
    let kind = *builder.random.pick(&Kind::ALL[1..]);
    let values = [
        ("kind", kind.name()),
        ("start", builder.number(0, 100)),
        ("size", builder.number(2, 8)),
        ("rounds", builder.number(3, 9)),
        ("factor", builder.number(2, 90)),
    ];
    builder.section(
        "statics",
        r#"
static _Thread_local @kind @self_current = @start;
static __thread uint32_t @self_ring[@size];
static _Thread_local struct { int calls; @kind *last; } @self_state = {-1, 0};
@static uint64_t @self_counter(void) {
    static uint64_t count = @start;
    static @kind history[@size] = {1, 2};
    static @kind *cursor = &history[1];
    count += (uint64_t)*cursor + 1;
    *cursor = (@kind)(count * @factor);
    if (++cursor == history + @size) cursor = history;
    return count;
}
@static uint64_t @self_other(void) {
    static uint64_t count;
    return count += 10;
}
@static @kind *@self_slot(void) {
    @self_state.calls++;
    return &@self_current;
}
@static uint64_t @self(void) {
    uint64_t total = 0;
    for (int round = 0; round < @rounds; round++) {
        total = total * 3 + @self_counter();
        total ^= @self_other() << (round & 7);
        *@self_slot() = (@kind)take();
        @self_ring[round % @size] += (uint32_t)@self_current + (uint32_t)@self_state.calls;
        if (@self_state.last) total += (uint64_t)*@self_state.last;
        @self_state.last = round & 1 ? &@self_current : NULL;
        show("round", total + @self_ring[(round + 1) % @size]);
    }
    return total + (uint64_t)@self_state.calls;
}
"#,
        &values,
    );
}

fn atomics(builder: &mut Builder) {
    builder.cover("atomics");
    builder.cover("volatile");
    let operators: Vec<String> = (0..3).map(|_| builder.choose(&["add", "sub", "and", "or", "xor", "nand"])).collect();
    let values = [
        ("one", operators[0].clone()),
        ("two", operators[1].clone()),
        ("three", operators[2].clone()),
        ("order", builder.choose(&["__ATOMIC_RELAXED", "__ATOMIC_ACQ_REL", "__ATOMIC_SEQ_CST", "__ATOMIC_RELEASE"])),
        ("rounds", builder.number(3, 9)),
    ];
    builder.section(
        "atomics",
        r#"
static _Atomic uint32_t @self_count = 5;
static _Atomic(int32_t) @self_signed;
static _Atomic uint8_t @self_byte;
static uint32_t @self_plain = 9;
static volatile int16_t @self_device = 3;
static uint32_t *_Atomic @self_pointer = &@self_plain;
@static uint64_t @self(void) {
    uint64_t total = 0;
    for (int round = 0; round < @rounds; round++) {
        uint32_t x = (uint32_t)take();
        total = total * 3 + __atomic_fetch_@one(&@self_plain, x, @order);
        total = total * 3 + __atomic_@two_fetch(&@self_plain, x >> 3, __ATOMIC_SEQ_CST);
        total += __sync_fetch_and_add(&@self_plain, 3u);
        uint32_t *target = @self_pointer;
        total += __atomic_fetch_@three(target, 7u, @order);
        show("plain", total);
        @self_count += x;
        @self_count ^= 77;
        @self_byte++;
        @self_signed = (int32_t)(x >> 1) - @self_byte;
        uint32_t expected = round & 1 ? x : __atomic_load_n(&@self_plain, __ATOMIC_ACQUIRE);
        _Bool swapped = __atomic_compare_exchange_n(&@self_plain, &expected, x + 1, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
        show("swapped", expected * 2ull + swapped);
        total ^= __atomic_exchange_n(&@self_plain, (uint32_t)total, @order);
        @self_device = (int16_t)(@self_device * 3 + 1);
        show("device", (uint64_t)@self_device + @self_count);
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
    }
    __atomic_store_n(&@self_plain, 1u, __ATOMIC_RELEASE);
    return total + @self_count + (uint64_t)@self_signed + @self_byte + *@self_pointer;
}
"#,
        &values,
    );
}
