//! How long it takes to load and lower: many functions, many blocks in one function, a switch of many cases.
//!
//! Prints `load NAME INSTRUCTIONS LOADED GUARDED`: processor seconds without the guard process, and with it; `cargo bench --bench load`.

mod clock;

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use lockcheck::frontend::{LoadOptions, load};

const ROUNDS: u32 = 3;

/// Functions as people write them: structs, arrays, loops, branches, calls.
fn functions(count: usize) -> String {
    let mut text = String::from(
        "struct item { int key; long weight; char name[12]; struct item *next; };\nextern int printf(const char *, ...);\nint total;\n",
    );
    for number in 0..count {
        let called = if number == 0 { "key".to_owned() } else { format!("work{}(items, key)", number / 2) };
        let _ = write!(
            text,
            r#"
int work{number}(struct item *items, int key) {{
    int values[16], sum = 0;
    for (int i = 0; i < 16; i++) {{
        values[i] = (key + i) * {number};
        if (values[i] % 3 == 0)
            sum += items[i].key;
        else if (items[i].weight > values[i])
            items[i].weight -= values[i] << 2;
        else
            items[i].name[i % 12] = (char)values[i];
    }}
    for (struct item *item = items; item; item = item->next) {{
        switch (item->key & 3) {{
        case 0: sum += values[item->key & 15]; break;
        case 1: item->weight = sum; break;
        case 2: total++; break;
        default: sum ^= item->name[0];
        }}
    }}
    if (sum > {number} && key > 0)
        sum += {called};
    printf("%d\n", sum);
    return sum;
}}
"#
        );
    }
    let _ = writeln!(text, "int main(void) {{ struct item items[16] = {{0}}; return work{}(items, 1); }}", count - 1);
    text
}

/// One function of more than 50,000 blocks.
fn blocks() -> String {
    let mut text = String::from("extern int input(int);\nint main(void) {\n    int sum = 0;\n");
    for number in 0..25_000 {
        let _ = writeln!(text, "    if (input({number})) sum += {number};");
    }
    text + "    return sum;\n}\n"
}

/// A switch of 20,000 cases.
fn switch() -> String {
    let mut text = String::from("int pick(int key) {\n    switch (key) {\n");
    for number in 0..20_000 {
        let _ = writeln!(text, "    case {}: return {};", number * 3, number ^ 0x55);
    }
    text + "    }\n    return -1;\n}\nint main(void) { return pick(59997); }\n"
}

/// Compiles as lockcheck compiles C.
fn compile(directory: &Path, name: &str, text: &str) -> PathBuf {
    let (source, bitcode) = (directory.join(name).with_extension("c"), directory.join(name).with_extension("bc"));
    std::fs::write(&source, text).expect("the temporary directory can be written");
    let version = include_str!("../ci/toolchain")
        .lines()
        .find_map(|line| line.strip_prefix("LLVM_VERSION="))
        .expect("the version is pinned");
    let mut clang = Command::new(format!("clang-{version}"));
    clang.args(["-g", "-O1", "-Xclang", "-disable-llvm-passes", "-w", "-c", "-emit-llvm", "-o"]).arg(&bitcode).arg(&source);
    assert!(clang.status().expect("clang runs").success(), "{name} compiles");
    bitcode
}

/// The best of a few rounds in seconds, and the instructions of the module before any pass.
fn best(bitcode: &Path, options: &LoadOptions) -> (f64, usize) {
    let mut best = (f64::INFINITY, 0);
    for _ in 0..ROUNDS {
        let start = clock::processor_seconds();
        let program = load(&[bitcode.to_owned()], options).expect("the program loads");
        best = (best.0.min(clock::processor_seconds() - start), program.sites.len());
    }
    best
}

fn main() {
    let guard = LoadOptions { guard: Some(PathBuf::from(env!("CARGO_BIN_EXE_lockcheck"))), ..LoadOptions::default() };
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    for (name, text) in [("functions", functions(960)), ("blocks", blocks()), ("switch", switch())] {
        let bitcode = compile(directory.path(), name, &text);
        let (loaded, instructions) = best(&bitcode, &LoadOptions::default());
        let (guarded, _) = best(&bitcode, &guard);
        println!("load {name} {instructions} {loaded:.3} {guarded:.3}");
    }
}
