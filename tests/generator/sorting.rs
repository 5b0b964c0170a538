//! `qsort` and `bsearch` with callbacks. Every order is total, since the place of equal elements is unspecified.

use super::builder::Builder;
use super::kind::Kind;

pub fn section(builder: &mut Builder) {
    builder.cover("qsort");
    builder.cover("bsearch");
    let kind = *builder.random.pick(&Kind::ALL[1..]);
    let values = [
        ("kind", kind.name()),
        ("count", builder.number(4, 16)),
        ("modulus", builder.number(2, 60)),
        ("less", builder.choose(&["<", ">"])),
        (
            "words",
            builder.choose(&[
                "\"pear\", \"apple\", \"fig\", \"banana\", \"cherry\"",
                "\"b\", \"aa\", \"\", \"abc\", \"ab\", \"zz\"",
                "\"x1\", \"x10\", \"x2\", \"X3\"",
            ]),
        ),
    ];
    builder.section(
        "sort",
        r#"
typedef struct { int32_t rank; @kind index; double weight; char tag; } @self_item;
static unsigned @self_comparisons;
static int @self_numbers(const void *left, const void *right) {
    @kind a = *(const @kind *)left, b = *(const @kind *)right;
    return (a @less b) - (b @less a);
}
static int @self_items(const void *left, const void *right) {
    const @self_item *a = left, *b = right;
    if (a->rank != b->rank) return a->rank < b->rank ? -1 : 1;
    return a->tag - b->tag;
}
static int @self_words(const void *left, const void *right) {
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}
static int @self_key(const void *key, const void *element) {
    @self_comparisons = 1;
    int32_t wanted = *(const int32_t *)key, rank = ((const @self_item *)element)->rank;
    return (wanted > rank) - (wanted < rank);
}
@static uint64_t @self(void) {
    @kind numbers[@count];
    @self_item items[@count];
    const char *words[] = {@words};
    uint64_t hash = 1;
    for (int i = 0; i < @count; i++) {
        numbers[i] = (@kind)(take() % 1000);
        items[i] = (@self_item){(int32_t)(take() % @modulus), (@kind)i, i * 0.5, (char)('A' + i)};
    }
    qsort(numbers, @count, sizeof numbers[0], @self_numbers);
    qsort(items, @count, sizeof *items, @self_items);
    qsort(words, sizeof words / sizeof *words, sizeof *words, @self_words);
    for (int i = 0; i < @count; i++) hash = hash * 31 + (uint64_t)numbers[i];
    show("numbers", hash);
    for (int i = 0; i < @count; i++) hash = hash * 31 + (uint64_t)items[i].rank * 64 + (uint64_t)items[i].tag + (uint64_t)(items[i].weight * 2.0);
    show("items", hash);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) printf("%s,", words[i]);
    printf("\n");
    for (int32_t key = 0; key < 6; key++) {
        @self_item *found = bsearch(&key, items, @count, sizeof items[0], @self_key);
        show("found", found ? (uint64_t)found->rank : UINT64_MAX);
    }
    return hash + @self_comparisons;
}
"#,
        &values,
    );
}
