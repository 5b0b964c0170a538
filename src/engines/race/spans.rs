//! Spans: which bytes does an access stay in, whatever its indices are?
//!
//! # Definition   An address that is counted from a base by constants and by indices into arrays whose length the type gives stays in a *span*: the bytes
//!                from the first element of the outermost of them to the last element of the innermost.
//! # Theorem      An access without undefined behaviour touches no byte outside its span: an address that is computed from an element of an array points into
//!                the array, or one beyond its last element, which must not be accessed (C17 6.5.6p8). Who steps back from it may have been beyond.
//! # Example      `thread->stats[i].hits` of one thread never is the lock that stands before `stats`, nor anything of the next thread.
//! # Deviations   Arrays that are the last member of what they stand in have no length here: programs allocate more than their types say (`frontend/lower/aggregate`).

use std::cell::RefCell;

use rustc_hash::FxHashMap;

use crate::facts::{Facts, Location, MemoryAccess, Offset};
use crate::program::{FunctionId, Operand, Operation, Program, RegisterId};

/// So many bytes from `distance` bytes behind a base on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    pub base: Operand,
    pub distance: i64,
    pub size: u64,
}

/// Bytes of an object that an access stays in.
pub type Within = (Location, u64);

/// A register that is counted from another.
#[derive(Clone, Copy)]
struct Step {
    base: Operand,
    constant: i64,
    indices: Indices,
}

#[derive(Clone, Copy)]
enum Indices {
    None,
    /// From the first to the last element, and to the one beyond.
    Bounded {
        to_last: u64,
        to_end: u64,
    },
    Unbounded,
}

pub struct Spans<'a> {
    program: &'a Program,
    steps: RefCell<FxHashMap<FunctionId, FxHashMap<RegisterId, Step>>>,
}

impl<'a> Spans<'a> {
    pub fn new(program: &'a Program) -> Spans<'a> {
        Spans { program, steps: RefCell::default() }
    }

    /// `None` when no array bounds the access.
    pub fn of(&self, function: FunctionId, access: &MemoryAccess) -> Option<Span> {
        let mut steps = self.steps.borrow_mut();
        let steps = steps.entry(function).or_insert_with(|| {
            let instructions = self.program.functions[function].blocks.iter().flat_map(|block| &block.instructions);
            instructions.filter_map(|one| Some((one.result?, step(&one.operation)?))).collect()
        });
        let (mut base, mut size) = (access.operand()?, access.size?);
        let (mut distance, mut is_bounded) = (0i64, false);
        while let Operand::Register(register) = base
            && let Some(step) = steps.get(&register)
        {
            match step.indices {
                Indices::None => {}
                Indices::Bounded { to_last, to_end } => {
                    // From beyond the last element one may step back into it.
                    size = size.checked_add(if distance < 0 { to_end } else { to_last })?;
                    is_bounded = true;
                }
                Indices::Unbounded => break,
            }
            distance = distance.checked_add(step.constant)?;
            base = step.base;
        }
        is_bounded.then_some(Span { base, distance, size })
    }

    /// The bytes of this object that an access stays in, where the base says where they are.
    pub fn within(&self, facts: &Facts<'_>, function: FunctionId, span: &Span, location: Location) -> Option<Within> {
        let mut bases = facts.points_to.pointees(function, span.base).filter(|base| base.object == location.object);
        let (Some(base), None) = (bases.next(), bases.next()) else { return None };
        let offset = match base.offset {
            Offset::At(at) => Offset::At(at.checked_add_signed(span.distance)?),
            Offset::Class { residue, stride } if span.size <= stride => {
                let residue = (i128::from(residue) + i128::from(span.distance)).rem_euclid(i128::from(stride));
                Offset::Class { residue: u64::try_from(residue).ok()?, stride }
            }
            Offset::Class { .. } | Offset::Any => return None,
        };
        Some((Location { object: location.object, offset }, span.size))
    }
}

fn step(operation: &Operation) -> Option<Step> {
    let Operation::Offset { base, constant, terms, in_bounds: true, .. } = operation else { return None };
    let bounds = || {
        let (mut to_last, mut to_end) = (0u64, 0u64);
        for term in terms {
            let (count, stride) = (term.count?, u64::try_from(term.stride).ok()?);
            to_last = to_last.checked_add(count.checked_sub(1)?.checked_mul(stride)?)?;
            to_end = to_end.checked_add(count.checked_mul(stride)?)?;
        }
        Some(Indices::Bounded { to_last, to_end })
    };
    let indices = if terms.is_empty() { Indices::None } else { bounds().unwrap_or(Indices::Unbounded) };
    Some(Step { base: *base, constant: *constant, indices })
}
