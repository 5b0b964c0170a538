//! How fast facts are: points-to on a generated program of about 100,000 instructions, and of twice as many functions, beside `opt -O2` on the
//! same bitcode in the same run.
//!
//! The program has what makes points-to slow: callees that all share, tables of function pointers, linked lists, arrays of locks,
//! allocation wrappers, recursion, threads. Prints: name, instructions, seconds of points-to, seconds of `opt -O2`, peak memory in MiB.
//! Files given as arguments are measured instead.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use lockcheck::facts::PointsTo;
use lockcheck::frontend::{LoadOptions, load};
use lockcheck::models::Models;

/// Groups of functions that make about 100,000 instructions.
const GROUPS: usize = 360;
const THREADS: usize = 50;

const COMMON: &str = r#"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
struct node { struct node *next, *other; int key; long weight; char name[16]; void *data; };
struct list { pthread_mutex_t lock; struct node *head; int count; int (*order)(struct node *, struct node *); };
typedef int (*operation)(struct list *, struct node *, int);
static pthread_mutex_t locks[500];
static struct list lists[64];
static void *allocate(size_t size) { void *memory = malloc(size); if (!memory) abort(); return memory; }
static void *allocate_zeroed(size_t size) { void *memory = allocate(size); memset(memory, 0, size); return memory; }
static struct node *new_node(int key) { struct node *node = allocate_zeroed(sizeof *node); node->key = key; return node; }
static void append(struct list *list, struct node *node) {
    struct node **at = &list->head;
    while (*at) at = &(*at)->next;
    *at = node; list->count++;
}
static struct node *find(struct list *list, int key) {
    for (struct node *node = list->head; node; node = node->next) if (node->key == key) return node;
    return 0;
}
static void each(struct list *list, operation visit, int depth) {
    for (struct node *node = list->head; node; node = node->next) visit(list, node, depth);
}
static void copy_node(struct node *to, const struct node *from) { memcpy(to, from, sizeof *to); }
"#;

fn group(text: &mut String, number: usize, groups: usize) {
    let (left, right) = (number / 2, (number * 7 + 3) % groups);
    let _ = write!(
        text,
        r#"
struct own{number} {{ struct node base; struct own{number} *up, *down; struct list *list; operation run; int values[8]; }};
static struct own{number} *top{number};
static int visit{number}(struct list *list, struct node *node, int depth) {{
    struct own{number} *own = (struct own{number} *)node->data;
    if (own && depth > 0) {{
        own->values[depth & 7] += node->key;
        if (own->run) own->run(list, own->base.next, depth - 1);
        if (own->up) own->up->values[0] = own->values[depth & 7];
    }}
    pthread_mutex_lock(&locks[(node->key + {number}) % 500]);
    node->weight += depth;
    pthread_mutex_unlock(&locks[(node->key + {number}) % 500]);
    return node->key + depth;
}}
static struct own{number} *make{number}(struct list *list, operation run) {{
    struct own{number} *own = allocate_zeroed(sizeof *own);
    own->list = list; own->run = run; own->base.data = own; own->up = top{number};
    if (top{number}) top{number}->down = own;
    top{number} = own;
    append(list, &own->base);
    return own;
}}
static int walk{number}(struct own{number} *own, int depth) {{
    int total = 0;
    struct node local;
    for (struct own{number} *at = own; at; at = at->up) {{
        for (int i = 0; i < 8; i++) total += at->values[i] * (i + {number});
        struct node *found = find(at->list, total % 97);
        if (found) {{ copy_node(&local, found); total += local.key; }}
        else append(at->list, new_node(total % 97));
    }}
    if (depth > 0 && own->down) total += walk{number}(own->down, depth - 1);
    switch (total & 3) {{
    case 0: own->base.other = &own->up->base; break;
    case 1: own->base.other = own->list->head; break;
    case 2: own->base.name[total & 15] = (char)total; break;
    default: own->base.weight = total;
    }}
    return total;
}}
int work{number}(int depth) {{
    operation choices[3] = {{visit{number}, visit{left}, visit{right}}};
    struct list *list = &lists[{number} % 64];
    struct own{number} *own = make{number}(list, choices[depth % 3]);
    pthread_mutex_lock(&list->lock);
    each(list, choices[(depth + 1) % 3], depth);
    int total = walk{number}(own, 2);
    pthread_mutex_unlock(&list->lock);
    if (depth > 0) total += work{left}(depth - 1);
    return total;
}}
"#
    );
}

fn generated(groups: usize) -> String {
    let mut text = COMMON.to_owned();
    for number in 0..groups {
        let _ = writeln!(text, "static int visit{number}(struct list *, struct node *, int);\nint work{number}(int);");
    }
    (0..groups).for_each(|number| group(&mut text, number, groups));
    for thread in 0..THREADS {
        let calls: String =
            (0..groups).skip(thread).step_by(THREADS).map(|number| format!("    total += work{number}(3);\n")).collect();
        let _ = writeln!(
            text,
            "static void *thread{thread}(void *argument) {{\n    long total = (long)argument;\n{calls}    return (void *)total;\n}}"
        );
    }
    let entries: String = (0..THREADS).map(|thread| format!("thread{thread}, ")).collect();
    let _ = writeln!(
        text,
        "int main(void) {{\n    void *(*entries[])(void *) = {{{entries}}};\n    pthread_t threads[{THREADS}];\n    \
         for (int i = 0; i < {THREADS}; i++) pthread_create(&threads[i], 0, entries[i], (void *)(long)i);\n    \
         for (int i = 0; i < {THREADS}; i++) pthread_join(threads[i], 0);\n    return 0;\n}}"
    );
    text
}

fn tool(name: &str) -> Command {
    let version = include_str!("../ci/toolchain")
        .lines()
        .find_map(|line| line.strip_prefix("LLVM_VERSION="))
        .expect("the version is pinned");
    Command::new(format!("{name}-{version}"))
}

/// Compiles as lockcheck compiles C.
fn compile(directory: &Path, name: &str, text: &str) -> PathBuf {
    let (source, bitcode) = (directory.join(name).with_extension("c"), directory.join(name).with_extension("bc"));
    std::fs::write(&source, text).expect("the temporary directory can be written");
    let mut clang = tool("clang");
    clang.args(["-g", "-O1", "-Xclang", "-disable-llvm-passes", "-w", "-c", "-emit-llvm", "-o"]).arg(&bitcode).arg(&source);
    assert!(clang.status().expect("clang runs").success(), "{name} compiles");
    bitcode
}

/// The processor time that this process, or its finished children, have used: other work on the machine does not count.
fn processor_seconds(who: libc::c_int) -> f64 {
    // SAFETY: the structure is plain numbers, and the call writes nothing else.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(who, &mut usage);
        usage
    };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}

fn peak_mebibytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").trim().parse::<u64>().ok()).unwrap_or(0) / 1024
}

fn measure(name: &str, bitcode: &Path) -> f64 {
    let before = processor_seconds(libc::RUSAGE_CHILDREN);
    let status = tool("opt").args(["-O2", "-o", "/dev/null"]).arg(bitcode).status().expect("opt runs");
    assert!(status.success(), "opt accepts {name}");
    let optimised = processor_seconds(libc::RUSAGE_CHILDREN) - before;
    let program = load(&[bitcode.to_owned()], &LoadOptions::default()).expect("the program loads");
    let models = Models::embedded();
    let bound = models.bind(&program);
    let loaded = peak_mebibytes();
    let (start, before) = (Instant::now(), processor_seconds(libc::RUSAGE_SELF));
    let points_to = PointsTo::of(&program, &bound);
    let (seconds, wall) = (processor_seconds(libc::RUSAGE_SELF) - before, start.elapsed().as_secs_f64());
    println!(
        "facts {name} {} {seconds:.3} {optimised:.3} {} ({:.2} of opt, {wall:.3} s wall, {loaded} MiB when loaded)",
        program.sites.len(),
        peak_mebibytes(),
        seconds / optimised
    );
    let sizes = points_to.set_sizes(&program);
    println!("  {:?}", points_to.statistics());
    println!(
        "  {} registers that point, {:.2} locations on average, {} at most",
        sizes.len(),
        sizes.iter().sum::<usize>() as f64 / sizes.len().max(1) as f64,
        sizes.iter().max().unwrap_or(&0)
    );
    seconds
}

fn main() {
    let files: Vec<PathBuf> = std::env::args_os()
        .skip(1)
        .filter(|argument| !argument.as_encoded_bytes().starts_with(b"-"))
        .map(PathBuf::from)
        .collect();
    if !files.is_empty() {
        for file in &files {
            measure(&file.display().to_string(), file);
        }
        return;
    }
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let single = measure("single", &compile(directory.path(), "single", &generated(GROUPS)));
    let double = measure("double", &compile(directory.path(), "double", &generated(2 * GROUPS)));
    println!("facts doubling {:.2}", double / single);
}
