//! The program that facts and engines are measured on: a server of many modules, as C projects write them.
//!
//! Subsystems of a dozen modules share their list functions, as each C project has its own lists for its own structs; all subsystems share
//! allocation wrappers, buffers, counters, a table of handlers through which some are called, and arrays of locks behind lock wrappers. Threads
//! work through modules of all subsystems, recursively. Twice the subsystems are twice the program.

use std::fmt::Write as _;

/// Subsystems that make about 100,000 instructions.
pub const SUBSYSTEMS: usize = 40;
const MODULES: usize = 12;
/// Subsystems that are called through the table of handlers; the others are called by their names.
const PLUGINS: usize = 16;
const THREADS: usize = 50;
/// Locks in the array; with those of lists and counters the program has 525.
const LOCKS: usize = 300;

const COMMON: &str = r#"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
typedef int (*handler)(void *, int);
struct buffer { char *data; size_t used, size; int generation; };
struct counter { pthread_mutex_t lock; long hits[8]; long total; };
struct registration { const char *name; handler run; void *context; };
static struct counter counters[64];
static struct registration registrations[32];
static pthread_mutex_t registry = PTHREAD_MUTEX_INITIALIZER;
static void *allocate(size_t size) { void *memory = malloc(size); if (!memory) abort(); return memory; }
static void *allocate_zeroed(size_t size) { void *memory = allocate(size); memset(memory, 0, size); return memory; }
static void acquire(pthread_mutex_t *lock) { if (pthread_mutex_lock(lock)) abort(); }
static void release(pthread_mutex_t *lock) { if (pthread_mutex_unlock(lock)) abort(); }
static void buffer_put(struct buffer *buffer, const char *bytes, size_t count) {
    if (buffer->used + count > buffer->size) {
        buffer->size = buffer->size * 2 + count;
        buffer->data = realloc(buffer->data, buffer->size);
    }
    memcpy(buffer->data + buffer->used, bytes, count);
    buffer->used += count; buffer->generation++;
}
static void count(struct counter *counter, int which, long by) {
    acquire(&counter->lock);
    counter->hits[which & 7] += by; counter->total += by;
    release(&counter->lock);
}
static void subscribe(int slot, const char *name, handler run, void *context) {
    acquire(&registry);
    struct registration *entry = &registrations[slot & 31];
    entry->name = name; entry->run = run; entry->context = context;
    release(&registry);
}
static int dispatch(int slot, int depth) {
    acquire(&registry);
    struct registration entry = registrations[slot & 31];
    release(&registry);
    return entry.run ? entry.run(entry.context, depth) : 0;
}
"#;

/// `@` is the subsystem's number.
const SUBSYSTEM: &str = r#"
struct node@ { struct node@ *next, *other; int key; long weight; char name[16]; void *data; };
struct list@ { pthread_mutex_t lock; struct node@ *head; int count; int (*order)(struct node@ *, struct node@ *); };
typedef int (*operation@)(struct list@ *, struct node@ *, int);
static struct list@ lists@[4];
static struct buffer journal@;
static int by_key@(struct node@ *left, struct node@ *right) { return left->key - right->key; }
static int by_weight@(struct node@ *left, struct node@ *right) { return left->weight < right->weight; }
static struct node@ *new_node@(int key) { struct node@ *node = allocate_zeroed(sizeof *node); node->key = key; return node; }
static void insert@(struct list@ *list, struct node@ *node) {
    struct node@ **at = &list->head;
    while (*at && list->order && list->order(*at, node) < 0) at = &(*at)->next;
    node->next = *at; *at = node; list->count++;
}
static struct node@ *find@(struct list@ *list, int key) {
    for (struct node@ *node = list->head; node; node = node->next) if (node->key == key) return node;
    return 0;
}
static void each@(struct list@ *list, operation@ visit, int depth) {
    for (struct node@ *node = list->head; node; node = node->next) visit(list, node, depth);
}
static void copy_node@(struct node@ *to, const struct node@ *from) { memcpy(to, from, sizeof *to); }
static int handle@(void *context, int depth) {
    struct list@ *list = context;
    acquire(&list->lock);
    list->order = depth & 1 ? by_key@ : by_weight@;
    int total = list->head ? list->head->key : 0;
    buffer_put(&journal@, (const char *)&total, sizeof total);
    release(&list->lock);
    return total;
}
"#;

/// `#` is the module's number, `@` its subsystem's, `<` and `>` two modules of the same subsystem, `?` a module of any.
const MODULE: &str = r#"
struct own# { struct node@ base; struct own# *up, *down; struct list@ *list; operation@ run; int values[8]; struct buffer text; };
static struct own# *top#;
static int visit#(struct list@ *list, struct node@ *node, int depth) {
    struct own# *own = (struct own# *)node->data;
    if (own && depth > 0) {
        own->values[depth & 7] += node->key;
        if (own->run) own->run(list, own->base.next, depth - 1);
        if (own->up) own->up->values[0] = own->values[depth & 7];
    }
    acquire(&locks[(node->key + #) % LOCKS]);
    node->weight += depth;
    release(&locks[(node->key + #) % LOCKS]);
    return node->key + depth;
}
static struct own# *make#(struct list@ *list, operation@ run) {
    struct own# *own = allocate_zeroed(sizeof *own);
    own->list = list; own->run = run; own->base.data = own; own->up = top#;
    if (top#) top#->down = own;
    top# = own;
    insert@(list, &own->base);
    return own;
}
static int walk#(struct own# *own, int depth) {
    int total = 0;
    struct node@ local;
    struct buffer text = {0};
    for (struct own# *at = own; at; at = at->up) {
        for (int i = 0; i < 8; i++) total += at->values[i] * (i + #);
        struct node@ *found = find@(at->list, total % 97);
        if (found) { copy_node@(&local, found); total += local.key; buffer_put(&text, local.name, sizeof local.name); }
        else insert@(at->list, new_node@(total % 97));
    }
    buffer_put(&own->text, text.data, text.used);
    free(text.data);
    if (depth > 0 && own->down) total += walk#(own->down, depth - 1);
    switch (total & 3) {
    case 0: own->base.other = &own->up->base; break;
    case 1: own->base.other = own->list->head; break;
    case 2: own->base.name[total & 15] = (char)total; break;
    default: own->base.weight = total;
    }
    return total;
}
int work#(int depth) {
    operation@ choices[3] = {visit#, visit<, visit>};
    struct list@ *list = &lists@[# & 3];
    acquire(&list->lock);
    struct own# *own = make#(list, choices[depth % 3]);
    each@(list, choices[(depth + 1) % 3], depth);
    int total = walk#(own, 2);
    release(&list->lock);
    count(&counters[# & 63], depth, total);
    ATTACH
    if (depth > 0) total += work?(depth - 1) + dispatch(total, depth);
    return total;
}
"#;

fn fill(template: &str, names: &[(char, String)]) -> String {
    let mut text = String::with_capacity(template.len() + template.len() / 4);
    for character in template.chars() {
        match names.iter().find(|(name, _)| *name == character) {
            Some((_, value)) => text.push_str(value),
            None => text.push(character),
        }
    }
    text
}

/// The text of a program of so many subsystems.
pub fn program(subsystems: usize) -> String {
    let modules = subsystems * MODULES;
    let mut text = format!("{COMMON}enum {{ LOCKS = {LOCKS} }};\nstatic pthread_mutex_t locks[LOCKS];\n");
    for subsystem in 0..subsystems {
        let number = subsystem.to_string();
        text.push_str(&fill(SUBSYSTEM, &[('@', number.clone())]));
        let first = subsystem * MODULES;
        for module in first..first + MODULES {
            let _ = writeln!(
                text,
                "static int visit{module}(struct list{number} *, struct node{number} *, int);\nint work{module}(int);"
            );
        }
    }
    for module in 0..modules {
        let (subsystem, inside) = (module / MODULES, module % MODULES);
        let neighbour = |inside: usize| (subsystem * MODULES + inside % MODULES).to_string();
        // The templates' own `<` and `>` are spelled here, so that C keeps its comparisons.
        let template = MODULE.replace("visit<", "visit\u{1}").replace("visit>", "visit\u{2}").replace("work?", "work\u{3}");
        let names = [
            ('#', module.to_string()),
            ('@', subsystem.to_string()),
            ('\u{1}', neighbour(inside / 2)),
            ('\u{2}', neighbour(inside * 7 + 3)),
            ('\u{3}', (module / 2).to_string()),
        ];
        let attach =
            if subsystem < PLUGINS { "subscribe(@, \"module #\", handle@, list);" } else { "total += handle@(list, depth);" };
        text.push_str(&fill(&template.replace("ATTACH", attach), &names));
    }
    for thread in 0..THREADS {
        let calls: String = (thread..modules).step_by(THREADS).map(|module| format!("    total += work{module}(3);\n")).collect();
        let _ = writeln!(
            text,
            "static void *thread{thread}(void *argument) {{\n    long total = (long)argument;\n{calls}    return (void *)total;\n}}"
        );
    }
    let entries: String = (0..THREADS).map(|thread| format!("thread{thread}, ")).collect();
    let _ = writeln!(
        text,
        "int main(void) {{\n    void *(*entries[])(void *) = {{{entries}}};\n    pthread_t threads[{THREADS}];\n    \
         for (int i = 0; i < LOCKS; i++) pthread_mutex_init(&locks[i], 0);\n    \
         for (int i = 0; i < {THREADS}; i++) pthread_create(&threads[i], 0, entries[i], (void *)(long)i);\n    \
         for (int i = 0; i < {THREADS}; i++) pthread_join(threads[i], 0);\n    return 0;\n}}"
    );
    text
}
