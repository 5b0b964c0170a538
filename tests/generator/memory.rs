//! Dynamic memory and the memory functions: buffers that grow, linked lists, trees, overlapping moves, comparisons.

use super::builder::Builder;
use super::kind::Kind;

pub fn section(builder: &mut Builder) {
    match builder.random.below(3) {
        0 => growing_buffer(builder),
        1 => linked_nodes(builder),
        _ => block_functions(builder),
    }
}

fn growing_buffer(builder: &mut Builder) {
    builder.cover("malloc");
    builder.cover("realloc");
    let kind = *builder.random.pick(&Kind::ALL[1..]);
    let values = [
        ("kind", kind.name()),
        ("count", builder.number(5, 40)),
        ("growth", builder.number(2, 4)),
        ("extra", builder.number(1, 9)),
    ];
    builder.section(
        "buffer",
        r#"
typedef struct { @kind *items; size_t used, room; } @self_vector;
@static int @self_push(@self_vector *vector, @kind item) {
    if (vector->used == vector->room) {
        size_t room = vector->room * @growth + @extra;
        @kind *items = realloc(vector->items, room * sizeof *items);
        if (!items) return 0;
        vector->items = items;
        vector->room = room;
    }
    vector->items[vector->used++] = item;
    return 1;
}
@static uint64_t @self(void) {
    @self_vector vector = {NULL, 0, 0};
    uint64_t hash = 3;
    for (int i = 0; i < @count; i++)
        if (!@self_push(&vector, (@kind)take())) return 0;
    show("room", vector.room);
    for (size_t i = 0; i < vector.used; i++) hash = hash * 31 + (uint64_t)vector.items[i];
    show("hash", hash);
    while (vector.used > 2) {
        size_t at = (size_t)(hash % (vector.used - 1));
        memmove(vector.items + at, vector.items + at + 1, (vector.used - at - 1) * sizeof *vector.items);
        vector.used--;
        hash = hash * 7 + (uint64_t)vector.items[at];
    }
    @kind *shrunk = realloc(vector.items, vector.used * sizeof *shrunk);
    if (!shrunk) return 1;
    hash += (uint64_t)shrunk[0] ^ (uint64_t)shrunk[1];
    free(shrunk);
    free(NULL);
    return hash;
}
"#,
        &values,
    );
}

fn linked_nodes(builder: &mut Builder) {
    builder.cover("malloc");
    builder.cover("linked-nodes");
    let kind = *builder.random.pick(&[Kind::U32, Kind::I32, Kind::I64, Kind { bits: 16, signed: true }]);
    let values = [("kind", kind.name()), ("count", builder.number(5, 24)), ("modulus", builder.number(2, 5))];
    builder.section(
        "nodes",
        r#"
typedef struct @self_tree { @kind key; struct @self_tree *child[2]; struct @self_tree **owner; } @self_tree;
typedef struct @self_list { struct @self_list *next; @kind value; } @self_list;
@static void @self_insert(@self_tree **at, @kind key) {
    while (*at) {
        if ((*at)->key == key) return;
        at = &(*at)->child[key > (*at)->key];
    }
    @self_tree *fresh = calloc(1, sizeof *fresh);
    if (!fresh) exit(3);
    fresh->key = key;
    fresh->owner = at;
    *at = fresh;
}
static unsigned @self_walk(@self_tree *tree, @self_list **list) {
    if (!tree) return 0;
    unsigned left = @self_walk(tree->child[0], list);
    @self_list *cell = malloc(sizeof *cell);
    if (!cell) exit(4);
    *cell = (@self_list){*list, tree->key};
    *list = cell;
    unsigned right = @self_walk(tree->child[1], list);
    mix((uint64_t)(*tree->owner == tree));
    free(tree);
    return 1 + (left > right ? left : right);
}
@static @self_list *@self_reverse(@self_list *list) {
    @self_list *done = NULL;
    while (list) {
        @self_list *next = list->next;
        list->next = done;
        done = list;
        list = next;
    }
    return done;
}
@static uint64_t @self(void) {
    @self_tree *root = NULL;
    @self_list *list = NULL;
    uint64_t hash = 1;
    for (int i = 0; i < @count; i++) @self_insert(&root, (@kind)take());
    show("depth", @self_walk(root, &list));
    list = @self_reverse(list);
    unsigned index = 0;
    for (@self_list **at = &list; *at;) {
        @self_list *cell = *at;
        if (index++ % @modulus == 0) {
            *at = cell->next;
            free(cell);
        } else {
            show("kept", hash = hash * 31 + (uint64_t)cell->value);
            at = &cell->next;
        }
    }
    while (list) {
        @self_list *next = list->next;
        free(list);
        list = next;
    }
    return hash;
}
"#,
        &values,
    );
}

fn block_functions(builder: &mut Builder) {
    builder.cover("memory-functions");
    let values = [
        ("size", builder.number(24, 80)),
        ("from", builder.number(0, 7)),
        ("to", builder.number(0, 7)),
        ("length", builder.number(1, 8)),
        ("fill", builder.number(0, 255)),
        ("wanted", builder.number(0, 255)),
        ("constant", builder.number(1, 12)),
    ];
    builder.section(
        "blocks",
        r#"
static unsigned char @self_buffer[@size];
@static int @self_sign(int value) { return (value > 0) - (value < 0); }
@static uint64_t @self_hash(const void *from, size_t size) {
    const unsigned char *bytes = from;
    uint64_t hash = 5;
    while (size--) hash = hash * 33 ^ *bytes++;
    return hash;
}
@static uint64_t @self(void) {
    unsigned char *heap = calloc(@size, 2), local[@size];
    if (!heap) return 0;
    for (int i = 0; i < @size; i++) @self_buffer[i] = (unsigned char)take();
    size_t length = (size_t)(take() % 8) + @length;
    memcpy(heap, @self_buffer, @size);
    memcpy(heap + @size, @self_buffer + @from, length);
    show("copied", @self_hash(heap, 2 * @size));
    memmove(heap + @to, heap + @from, length);
    memmove(heap + 1, heap, @size);
    show("moved", @self_hash(heap, 2 * @size));
    memset(local, @fill, sizeof local);
    memset(heap + @to, (int)length, length);
    memset(local + 2, 0, @constant);
    show("filled", @self_hash(heap, 2 * @size) + @self_hash(local, sizeof local));
    show("compared", (uint64_t)(@self_sign(memcmp(heap, @self_buffer, @size)) + 2 * @self_sign(memcmp(local, heap, length))));
    show("equal", (uint64_t)(memcmp(heap, heap + @size, 4) == 0) + 2 * (uint64_t)(memcmp(local, local + 1, 2) == 0));
    unsigned char *found = memchr(heap, @wanted, 2 * @size);
    show("found", found ? (uint64_t)(found - heap) : 999);
    uint32_t word;
    memcpy(&word, heap + @to, sizeof word);
    word = word * 3 + 1;
    memcpy(heap + @from, &word, sizeof word);
    struct { uint32_t a, b; uint16_t c[4]; } whole, copy;
    memcpy(&whole, heap, sizeof whole);
    memcpy(&copy, &whole, sizeof copy);
    copy.b ^= whole.a;
    show("word", word + (uint64_t)copy.b + copy.c[3]);
    uint64_t result = @self_hash(heap, 2 * @size);
    free(heap);
    return result;
}
"#,
        &values,
    );
}
