//! Large and odd, but right: it loads in reasonable time.

use std::fmt::Write;
use std::time::{Duration, Instant};

use super::support::{Scratch, load_guarded};

fn assert_loads_within(name: &str, text: &str, limit: Duration) -> lockcheck::program::Program {
    let scratch = Scratch::new();
    let file = scratch.file(name, text);
    let start = Instant::now();
    let program = load_guarded(&[file]).unwrap_or_else(|error| panic!("{error}"));
    assert!(start.elapsed() < limit, "{name} took {:?}", start.elapsed());
    program
}

#[test]
fn fifty_thousand_blocks_in_one_function() {
    let mut text = String::from(
        "define i32 @main(i32 %argc, ptr %argv) {\nentry:\n  %slot = alloca i32\n  store i32 %argc, ptr %slot\n  br label %b0\n",
    );
    const BLOCKS: usize = 50_000;
    for block in 0..BLOCKS {
        writeln!(
            text,
            "b{block}:\n  %v{block} = load i32, ptr %slot\n  %w{block} = add i32 %v{block}, 1\n  store i32 %w{block}, ptr %slot"
        )
        .unwrap();
        writeln!(text, "  %c{block} = icmp slt i32 %w{block}, 7\n  br i1 %c{block}, label %b{}, label %end", block + 1).unwrap();
    }
    writeln!(text, "b{BLOCKS}:\n  br label %end\nend:\n  %r = load i32, ptr %slot\n  ret i32 %r\n}}").unwrap();
    let program = assert_loads_within("blocks.ll", &text, Duration::from_secs(30));
    let main = program.function_named("main").unwrap();
    assert!(program.functions[main].blocks.len() >= BLOCKS);
}

#[test]
fn a_huge_switch() {
    let mut text = String::from("int f(int x) {\n  switch (x) {\n");
    const CASES: usize = 20_000;
    for case in 0..CASES {
        writeln!(text, "  case {}: return {case};", case * 3).unwrap();
    }
    text.push_str("  default: return -1;\n  }\n}\nint main(void) { return f(6); }\n");
    let program = assert_loads_within("switch.c", &text, Duration::from_secs(30));
    let f = program.function_named("f").unwrap();
    assert!(program.functions[f].blocks.len() > CASES / 2);
}

#[test]
fn recursive_and_deeply_nested_types() {
    let mut text = String::from(
        "struct a; struct b { struct a *up; struct b *self; };\nstruct a { struct b down; struct a *(*make)(struct a *); };\n",
    );
    text.push_str("struct n0 { int x; struct n0 *next; };\n");
    const DEPTH: usize = 200;
    for level in 1..DEPTH {
        writeln!(text, "struct n{level} {{ struct n{} inner; struct n{level} *next; }};", level - 1).unwrap();
    }
    let inner = ".inner".repeat(DEPTH - 1);
    writeln!(
        text,
        "struct a first; struct n{} deep;\nint main(void) {{ first.down.self = &first.down; return deep{inner}.x; }}",
        DEPTH - 1
    )
    .unwrap();
    let program = assert_loads_within("types.c", &text, Duration::from_secs(10));
    assert!(program.globals.iter().any(|global| global.name == "deep"));
}

#[test]
fn a_long_chain_of_values() {
    const LENGTH: usize = 20_000;
    let mut text = String::from("@x = global i32 0\ndefine i32 @main() {\n  %s0 = load i32, ptr @x\n");
    for term in 1..LENGTH {
        writeln!(text, "  %s{term} = add i32 %s{}, {term}", term - 1).unwrap();
    }
    writeln!(text, "  ret i32 %s{}\n}}", LENGTH - 1).unwrap();
    let program = assert_loads_within("sum.ll", &text, Duration::from_secs(10));
    assert!(program.size() >= LENGTH);
}
