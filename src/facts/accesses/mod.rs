//! Accesses: which bytes does each instruction touch, how, and through which operand?
//!
//! # Definition   The accesses of an instruction are loads, stores, atomic updates, copies, and for a call what the models of the library
//!                functions it may call say, with what a builtin does beyond that (formats, lists of arguments, kept strings).
//!                A return, a thread's end and a jump end the life of stack objects: a plain write of all their bytes.
//! # Theorem      Every access that a run reports to the race detector for a site is one of the accesses of an instruction of that site: same
//!                direction, atomic or not, its bytes inside the range.
//! # Deviations   1. Left out: `errno`, tables and streams of the library, memory that the library function itself has just allocated, the areas
//!                variadic arguments are passed in: no other thread has their address.  2. A function without body and model touches nothing
//!                here: it is an assumption.  3. Beyond the machine: objects of attributes are read where they are used.

mod builtin;
mod format;
mod instruction;
mod library;
mod place;

use typed_index_collections::TiVec;

use super::points_to::PointsTo;
use crate::models::BoundModels;
use crate::program::{AliasTypeId, BlockId, FunctionId, Operand, Ordering, Program, TerminatorKind};

use instruction::Collector;
pub(crate) use instruction::library_model;

/// The size that stands for: up to the end of the object.
pub const WHOLE: u64 = u64::MAX / 4;

/// An instruction or, with the number of instructions as its index, a block's terminator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    pub function: FunctionId,
    pub block: BlockId,
    pub index: usize,
}

/// Where the first byte of an access lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// Where an operand of the instruction's function points.
    Operand(Operand),
    /// Where an operand of another function points: an argument that got here through a list of arguments, a string that is kept.
    Foreign(FunctionId, Operand),
    /// Where an address points that is stored behind the operand.
    Behind(Operand),
    /// Where addresses lead that are found behind the operand after so many pointers.
    Beyond(Operand, u8),
    /// Every stack object of the functions that are active in the thread.
    ActiveStack,
    /// Memory of a library function, which no pointer of the program need lead to.
    Library(FunctionId),
}

/// What is done to the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Action {
    Read,
    Write,
    /// One atomic update, which may only read when it fails.
    Update,
    /// The object's life ends: a write of all its bytes.
    End,
    /// A primitive is destroyed: a write, after which nobody may use it before it is initialised again.
    Destroy,
}

impl Action {
    pub fn writes(self) -> bool {
        self != Action::Read
    }
}

/// How it is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Manner {
    Plain,
    Atomic(Ordering),
    /// By a library function on a primitive of its own (a lock is taken, a condition signalled): atomic, orders nothing by itself.
    Operation,
    /// By a library function on a state of its own, which the C library guards and POSIX does not: atomic for those who rely on the library.
    Guarded,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MemoryAccess {
    pub place: Place,
    /// In bytes from the place on; `None`: perhaps to the end of the object.
    pub size: Option<u64>,
    pub action: Action,
    pub manner: Manner,
    pub is_volatile: bool,
    /// As which type: bytes that are declared, or were stored, as another type are not what it touches. `None`: any bytes.
    pub alias: Option<AliasTypeId>,
}

impl MemoryAccess {
    pub fn is_atomic(&self) -> bool {
        self.manner != Manner::Plain
    }

    /// The operand of the instruction's own function through which the bytes are reached.
    pub fn operand(&self) -> Option<Operand> {
        match self.place {
            Place::Operand(operand) => Some(operand),
            Place::Foreign(..) | Place::Behind(_) | Place::Beyond(..) | Place::ActiveStack | Place::Library(_) => None,
        }
    }
}

/// The accesses of every instruction of a program.
pub struct Accesses {
    positions: Positions,
    /// By position: where its accesses begin in `all`; one more at the end.
    starts: Vec<u32>,
    all: Vec<MemoryAccess>,
}

impl Accesses {
    pub fn of(program: &Program, models: &BoundModels<'_>, points_to: &PointsTo) -> Accesses {
        let positions = Positions::of(program);
        let collector = Collector::new(program, models, points_to);
        let (mut starts, mut all) = (Vec::with_capacity(positions.count + 1), Vec::new());
        let mut found: Vec<MemoryAccess> = Vec::new();
        for (id, function) in program.functions.iter_enumerated() {
            let is_reachable = points_to.is_reachable(id);
            let stack = if is_reachable { instruction::stack_ends(function) } else { Vec::new() };
            for block in &function.blocks {
                for instruction in block.instructions.iter().map(Some).chain([None]) {
                    starts.push(all.len() as u32);
                    match instruction {
                        _ if !is_reachable => continue,
                        Some(instruction) => collector.instruction(id, function, instruction, &stack, &mut found),
                        // A return ends the stack objects of its function.
                        None if matches!(block.terminator.kind, TerminatorKind::Return(_)) => found.extend(&stack),
                        None => {}
                    }
                    let first = all.len();
                    for access in found.drain(..) {
                        if !all[first..].contains(&access) {
                            all.push(access);
                        }
                    }
                }
            }
        }
        starts.push(all.len() as u32);
        Accesses { positions, starts, all }
    }

    /// The accesses of an instruction, or of the terminator when `index` is the number of instructions; none in a function that never runs.
    pub fn at(&self, function: FunctionId, block: BlockId, index: usize) -> &[MemoryAccess] {
        let number = self.positions.number(function, block, index);
        &self.all[self.starts[number] as usize..self.starts[number + 1] as usize]
    }

    pub fn len(&self) -> usize {
        self.all.len()
    }

    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }
}

/// Numbers for the instructions and terminators of all functions.
#[derive(Clone, Debug)]
pub(super) struct Positions {
    /// By function and block: the number of the first instruction.
    firsts: TiVec<FunctionId, Vec<u32>>,
    pub count: usize,
}

impl Positions {
    pub fn of(program: &Program) -> Positions {
        let mut count = 0;
        let firsts = program.functions.iter().map(|function| {
            let first = |block: &crate::program::Block| {
                let first = count as u32;
                count += block.instructions.len() + 1;
                first
            };
            function.blocks.iter().map(first).collect()
        });
        let firsts = firsts.collect();
        Positions { firsts, count }
    }

    pub fn number(&self, function: FunctionId, block: BlockId, index: usize) -> usize {
        self.firsts[function][usize::from(block)] as usize + index
    }
}
