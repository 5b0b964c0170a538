//! C in, a lowered program out, and ways to look into it.

use std::path::Path;
use std::process::Command;

use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use lockcheck::frontend::lower::lower;
use lockcheck::program::validate::validate;
use lockcheck::program::{Function, Instruction, Intrinsic, Operation, Program, TerminatorKind};

/// How lockcheck itself compiles C.
pub const PLAIN: &[&str] = &["-g", "-O1", "-Xclang", "-disable-llvm-passes"];
pub const UNOPTIMIZED: &[&str] = &["-g", "-O0"];
pub const OPTIMIZED: &[&str] = &["-g", "-O2"];
pub const PLAIN_32: &[&str] = &["-g", "-O1", "-Xclang", "-disable-llvm-passes", "-m32"];

fn clang() -> String {
    let toolchain = include_str!("../../ci/toolchain");
    let version = toolchain.lines().find_map(|line| line.strip_prefix("LLVM_VERSION=")).expect("the pinned version");
    format!("clang-{}", version.trim())
}

/// Compiles a file to bitcode and lowers it.
pub fn lower_file(file: &Path, flags: &[&str]) -> Program {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let bitcode = directory.path().join("program.bc");
    let output = Command::new(clang())
        .args(["-c", "-emit-llvm", "-w"])
        .args(flags)
        // Debian keeps the kernel's headers, which are the same for 32 bits, with the 64-bit ones.
        .args(["-idirafter", "/usr/include/x86_64-linux-gnu"])
        .arg(file)
        .arg("-o")
        .arg(&bitcode)
        .output()
        .expect("clang runs");
    assert!(output.status.success(), "{}: {}", file.display(), String::from_utf8_lossy(&output.stderr));
    lower_bytes(&std::fs::read(&bitcode).expect("clang wrote bitcode"))
}

/// Lowers bitcode or textual IR.
pub fn lower_bytes(bytes: &[u8]) -> Program {
    let context = Context::create();
    let buffer = MemoryBuffer::create_from_memory_range_copy(bytes, "program");
    let module = context.create_module_from_ir(buffer).unwrap_or_else(|error| panic!("LLVM rejects the input: {error}"));
    module.verify().unwrap_or_else(|error| panic!("the module is broken: {error}"));
    let program = lower(&module).expect("the module can be lowered");
    if let Err(violations) = validate(&program) {
        panic!("{violations}");
    }
    program
}

pub fn lower_c(source: &str, flags: &[&str]) -> Program {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let file = directory.path().join("program.c");
    std::fs::write(&file, source).expect("the source is written");
    lower_file(&file, flags)
}

pub fn function<'a>(program: &'a Program, name: &str) -> &'a Function {
    let id = program.function_named(name).unwrap_or_else(|| panic!("no function {name}"));
    &program.functions[id]
}

pub fn instructions(function: &Function) -> impl Iterator<Item = &Instruction> {
    function.blocks.iter().flat_map(|block| &block.instructions)
}

pub fn operations(function: &Function) -> impl Iterator<Item = &Operation> {
    instructions(function).map(|instruction| &instruction.operation)
}

pub fn has(function: &Function, predicate: impl Fn(&Operation) -> bool) -> bool {
    operations(function).any(predicate)
}

/// The operation that a function has exactly once.
pub fn the<'a, T>(function: &'a Function, select: impl Fn(&'a Operation) -> Option<T>) -> T {
    let mut found: Vec<T> = operations(function).filter_map(select).collect();
    assert_eq!(found.len(), 1, "{} has it once: {:#?}", function.name, operations(function).collect::<Vec<_>>());
    found.remove(0)
}

pub fn intrinsics(function: &Function) -> Vec<Intrinsic> {
    operations(function)
        .filter_map(|operation| match operation {
            Operation::Intrinsic { function, .. } => Some(*function),
            _ => None,
        })
        .collect()
}

pub fn terminators(function: &Function) -> impl Iterator<Item = &TerminatorKind> {
    function.blocks.iter().map(|block| &block.terminator.kind)
}
