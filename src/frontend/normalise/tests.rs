//! Every access that is not one to a promoted local variable is there after normalisation as before: same site, same kind, same bytes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use inkwell::module::Module;
use llvm_sys::LLVMOpcode;
use llvm_sys::core::*;
use llvm_sys::prelude::LLVMValueRef;

use super::super::diagnostics::{Session, take_message};
use super::super::{number, read, walk};
use super::{allow_passes, normalise};

/// Function and number.
type Site = (String, u32);

/// What an instruction does to memory.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Access {
    /// Opcode, type, ordering, alignment and so on, without the names of values, which passes may change.
    kind: String,
    /// The stack slot that is read or written as a whole, directly.
    slot: Option<Site>,
}

fn site_of(instruction: LLVMValueRef) -> Option<u32> {
    unsafe {
        let context = LLVMGetTypeContext(LLVMTypeOf(instruction));
        let name = number::METADATA_NAME;
        let node = LLVMGetMetadata(instruction, LLVMGetMDKindIDInContext(context, name.as_ptr().cast(), name.len() as u32));
        if node.is_null() {
            return None;
        }
        let mut operand = std::ptr::null_mut();
        LLVMGetMDNodeOperands(node, &mut operand);
        Some(LLVMConstIntGetZExtValue(operand) as u32)
    }
}

fn access_of(function: &str, instruction: LLVMValueRef) -> Option<Access> {
    unsafe {
        let opcode = LLVMGetInstructionOpcode(instruction);
        let (ty, pointer) = match opcode {
            LLVMOpcode::LLVMLoad => (LLVMTypeOf(instruction), LLVMGetOperand(instruction, 0)),
            LLVMOpcode::LLVMStore => (LLVMTypeOf(LLVMGetOperand(instruction, 0)), LLVMGetOperand(instruction, 1)),
            LLVMOpcode::LLVMAtomicRMW | LLVMOpcode::LLVMAtomicCmpXchg => {
                (LLVMTypeOf(LLVMGetOperand(instruction, 1)), LLVMGetOperand(instruction, 0))
            }
            LLVMOpcode::LLVMCall | LLVMOpcode::LLVMFence => {
                let callee =
                    if opcode == LLVMOpcode::LLVMCall { walk::name(LLVMGetCalledValue(instruction)) } else { String::new() };
                // Advice to the compiler, made from what a removed load knew; it touches nothing.
                if callee == "llvm.assume" {
                    return None;
                }
                let slot =
                    callee.starts_with("llvm.lifetime.").then(|| slot_of(function, LLVMGetOperand(instruction, 0))).flatten();
                return Some(Access { kind: format!("{opcode:?} {callee}"), slot });
            }
            _ => return None,
        };
        let (volatile, alignment) = (LLVMGetVolatile(instruction), LLVMGetAlignment(instruction));
        let ordering = match opcode {
            LLVMOpcode::LLVMAtomicCmpXchg => LLVMGetCmpXchgSuccessOrdering(instruction),
            _ => LLVMGetOrdering(instruction),
        };
        let ty = take_message(LLVMPrintTypeToString(ty));
        let kind = format!("{opcode:?} {ty} volatile {volatile} align {alignment} {ordering:?}");
        Some(Access { kind, slot: slot_of(function, pointer) })
    }
}

fn slot_of(function: &str, pointer: LLVMValueRef) -> Option<Site> {
    let is_slot = unsafe { !LLVMIsAAllocaInst(pointer).is_null() };
    is_slot.then(|| (function.to_owned(), site_of(pointer).expect("a stack slot is numbered")))
}

/// All accesses and all stack slots, by site.
fn survey(module: &Module<'_>) -> (BTreeMap<Site, Access>, BTreeSet<Site>) {
    let (mut accesses, mut slots) = (BTreeMap::new(), BTreeSet::new());
    for function in walk::functions(module) {
        let name = walk::name(function);
        for instruction in walk::blocks(function).flat_map(walk::instructions) {
            let access = access_of(&name, instruction);
            let Some(index) = site_of(instruction) else {
                assert!(access.is_none(), "an access in {name} has no site");
                continue;
            };
            let site = (name.clone(), index);
            if unsafe { !LLVMIsAAllocaInst(instruction).is_null() } {
                slots.insert(site.clone());
            }
            if let Some(access) = access {
                assert!(accesses.insert(site, access).is_none(), "two accesses in {name} have the site {index}");
            }
        }
    }
    (accesses, slots)
}

/// Returns the number of accesses before and after.
fn assert_keeps_accesses(name: &str, module: &Module<'_>) -> (usize, usize) {
    number::number(module);
    let (mut before, slots_before) = survey(module);
    allow_passes(module);
    normalise(module);
    let (after, slots_after) = survey(module);
    let count = before.len();
    let promoted: BTreeSet<_> = slots_before.difference(&slots_after).collect();
    before.retain(|_, access| !access.slot.as_ref().is_some_and(|slot| promoted.contains(slot)));
    assert_eq!(before, after, "{name}");
    (count, after.len())
}

#[test]
fn every_access_of_compiled_c_is_kept() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    for version in ["14", "16", "19"] {
        for flavour in ["O0", "O2", "m32"] {
            let file = fixtures.join(format!("two-threads-clang{version}-{flavour}.bc"));
            let session = Session::new();
            let module = read::bitcode(&session, &file, &std::fs::read(&file).unwrap()).unwrap();
            let (before, after) = assert_keeps_accesses(&file.display().to_string(), &module);
            assert!(after > 10 && (flavour == "O2" || after < before), "{before} accesses before, {after} after");
        }
    }
}

const ODD: &str = r#"
@shared = global i32 0
@pointer = global ptr null
%pair = type { i32, i32 }
declare void @escape(ptr)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
define i32 @main(i32 %argc) noinline optnone {
entry:
  %plain = alloca i32
  %volatile = alloca i32
  %escaped = alloca i32
  %copied = alloca %pair
  %known = alloca ptr
  store i32 %argc, ptr %plain
  store volatile i32 %argc, ptr %volatile
  store i32 1, ptr %escaped
  call void @escape(ptr %escaped)
  call void @llvm.memcpy.p0.p0.i64(ptr %copied, ptr @shared, i64 8, i1 false)
  %p = load ptr, ptr @pointer
  store ptr %p, ptr %known
  %q = load ptr, ptr %known, !nonnull !0
  %unused = load i32, ptr @shared
  %again = load i32, ptr @shared
  %atomic = load atomic i32, ptr @shared acquire, align 4
  %old = atomicrmw add ptr @shared, i32 1 release
  %swap = cmpxchg ptr @shared, i32 0, i32 1 acq_rel monotonic
  fence seq_cst
  store i32 5, ptr @shared
  store i32 6, ptr @shared
  %condition = icmp eq i32 %argc, 3
  br i1 %condition, label %then, label %end
then:
  %x = load i32, ptr %q
  store i32 %x, ptr %plain
  br label %end
end:
  %y = load i32, ptr %plain
  ret i32 %y
dead:
  store i32 9, ptr @shared
  br label %end
}
!0 = !{}
"#;

#[test]
fn repeated_unused_and_dead_accesses_are_kept() {
    let session = Session::new();
    let module = read::assembly(&session, Path::new("odd.ll"), ODD.as_bytes()).unwrap();
    let (before, after) = assert_keeps_accesses("odd.ll", &module);
    // Gone: two stores to and one load from `plain`, the store to and the load from `known`.
    assert_eq!(before - after, 5);
}
