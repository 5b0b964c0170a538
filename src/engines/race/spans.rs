//! Spans: which bytes does an access stay in, whatever its indices are?
//!
//! # Definition   An address that is counted from a base by constants and by indices into arrays whose length the type gives stays in a *span*: the bytes
//!                from the first element of the outermost of them to the last element of the innermost. One that came from elsewhere stays in its *room*: what is left of the array that it
//!                was counted from, as points-to knows it (`facts::points_to`); so does one that is counted from there by indices of which nothing is known.
//! # Theorem      An access without undefined behaviour touches no byte outside its span: an address that is computed from an element of an array points into
//!                the array, or one beyond its last element, which must not be accessed (C17 6.5.6p8). Who steps back from it may have been beyond.
//! # Example      `thread->stats[i].hits` of one thread never is the lock that stands before `stats`, nor anything of the next thread.
//! # Deviations   Arrays that are the last member of what they stand in have no length here: programs allocate more than their types say (`frontend/lower/aggregate`).
//! # Misses       What a program without defined behaviour touches behind an array: a library call of computed size that begins at a structure's array and means what follows it, too
//!                (`facts/points_to/room`). No assumption tells of it; one of a fixed size that is too large for the array is compared with all that it touches.

use std::cell::RefCell;
use std::rc::Rc;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::facts::accesses::Action;
use crate::facts::{AbstractObjectId, Facts, Location, MemoryAccess, Offset, PointeesId};
use crate::program::{FunctionId, Operand, Operation, Program, RegisterId};

/// So many bytes from `distance` bytes behind a base on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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
    /// By so many bytes each.
    Unbounded {
        stride: u64,
    },
}

/// Where a pointer may lead in each object; `None` where that is no single place.
type Bases = FxHashMap<AbstractObjectId, Option<Offset>>;

/// By location of an address: what an access there stays in.
type Rooms = FxHashMap<Location, Option<Within>>;

/// By object: the bytes of an array before a pointer and from it on.
type Around = FxHashMap<AbstractObjectId, Option<(u64, u64)>>;

/// By function.
type Steps = FxHashMap<FunctionId, FxHashMap<RegisterId, Step>>;

/// What is known of where an access stays, by what it may touch.
pub struct Inside {
    of_span: Option<(Rc<Bases>, Span)>,
    /// Those of the address, and how many bytes are accessed.
    rooms: Option<(Rc<Rooms>, u64)>,
}

pub struct Spans<'a> {
    program: &'a Program,
    bases: RefCell<FxHashMap<PointeesId, Rc<Bases>>>,
    rooms: RefCell<FxHashMap<PointeesId, Rc<Rooms>>>,
    /// Of the bases of indices that nothing bounds, and by how many bytes these move.
    around: RefCell<FxHashMap<(PointeesId, u64), Around>>,
    steps: RefCell<Steps>,
}

impl<'a> Spans<'a> {
    pub fn new(program: &'a Program) -> Spans<'a> {
        let (bases, rooms, around, steps) = Default::default();
        Spans { program, bases, rooms, around, steps }
    }

    /// `None` when no array bounds the access.
    pub fn of(&self, function: FunctionId, access: &MemoryAccess) -> Option<Span> {
        let spans = self.all_of(function, access);
        spans.last().filter(|span| Some(span.size) > access.size).copied()
    }

    /// The bytes that the access stays in, counted from its address, from what that is counted from, and so on.
    pub fn all_of(&self, function: FunctionId, access: &MemoryAccess) -> SmallVec<[Span; 4]> {
        let mut spans = SmallVec::new();
        let (Some(base), Some(size)) = (access.operand(), access.size) else { return spans };
        let mut steps = self.steps.borrow_mut();
        let steps = self.steps_of(&mut steps, function);
        let mut span = Span { base, distance: 0, size };
        spans.push(span);
        while let Operand::Register(register) = span.base
            && let Some(step) = steps.get(&register)
        {
            match step.indices {
                Indices::None => {}
                // From beyond the last element one may step back into it.
                Indices::Bounded { to_last, to_end } => {
                    let Some(size) = span.size.checked_add(if span.distance < 0 { to_end } else { to_last }) else { break };
                    span.size = size;
                }
                Indices::Unbounded { .. } => break,
            }
            let Some(distance) = span.distance.checked_add(step.constant) else { break };
            (span.base, span.distance) = (step.base, distance);
            spans.push(span);
        }
        spans
    }

    /// The array that the base of an access points into, where an element of it, or a part of one, is accessed whose index nothing bounds; for an access that
    /// touches one of these objects.
    pub fn around(
        &self,
        facts: &Facts<'_>,
        (function, access): (FunctionId, &MemoryAccess),
        mut objects: impl Iterator<Item = AbstractObjectId>,
    ) -> Option<Span> {
        let mut steps = self.steps.borrow_mut();
        let steps = self.steps_of(&mut steps, function);
        let (mut base, mut distance) = (access.operand()?, 0i64);
        loop {
            let Operand::Register(register) = base else { return None };
            let step = steps.get(&register)?;
            (base, distance) = (step.base, distance.checked_add(step.constant)?);
            match step.indices {
                Indices::None => {}
                Indices::Bounded { .. } => return None,
                Indices::Unbounded { stride } => {
                    let is_of_element = u64::try_from(distance).ok()?.checked_add(access.size?)? <= stride;
                    let set = facts.points_to.set_of(function, base).filter(|_| is_of_element)?;
                    let mut all = self.around.borrow_mut();
                    let rooms = all.entry((set, stride)).or_insert_with(|| facts.points_to.rooms_around(set, stride));
                    let (before, after) = objects.try_fold((0, 0), |(before, after), object| {
                        let (more_before, more_after) = (*rooms.get(&object)?)?;
                        Some((more_before.max(before), more_after.max(after)))
                    })?;
                    return Some(Span {
                        base,
                        distance: i64::try_from(before).ok()?.checked_neg()?,
                        size: before.checked_add(after)?,
                    });
                }
            }
        }
    }

    fn steps_of<'s>(&self, steps: &'s mut Steps, function: FunctionId) -> &'s FxHashMap<RegisterId, Step> {
        steps.entry(function).or_insert_with(|| {
            let instructions = self.program.functions[function].blocks.iter().flat_map(|block| &block.instructions);
            instructions.filter_map(|one| Some((one.result?, step(&one.operation)?))).collect()
        })
    }

    /// The bytes that an access stays in.
    pub fn inside(&self, facts: &Facts<'_>, function: FunctionId, access: &MemoryAccess) -> Inside {
        // What ends or destroys an object does so as a whole, wherever the pointer was counted from.
        let is_of_bytes = matches!(access.action, Action::Read | Action::Write | Action::Update);
        let address = access.operand().filter(|_| is_of_bytes);
        let rooms = address.and_then(|address| facts.points_to.set_of(function, address)).map(|set| {
            let mut all = self.rooms.borrow_mut();
            let rooms = all.entry(set).or_insert_with(|| Rc::new(facts.points_to.rooms(set)));
            (Rc::clone(rooms), access.size.unwrap_or(1))
        });
        Inside { of_span: self.of_span(facts, function, access), rooms }
    }

    fn of_span(&self, facts: &Facts<'_>, function: FunctionId, access: &MemoryAccess) -> Option<(Rc<Bases>, Span)> {
        let span = self.of(function, access)?;
        let set = facts.points_to.set_of(function, span.base)?;
        let mut all = self.bases.borrow_mut();
        let bases = all.entry(set).or_insert_with(|| {
            let mut bases = Bases::default();
            for base in facts.points_to.members(set) {
                bases.entry(base.object).and_modify(|known| *known = None).or_insert(Some(base.offset));
            }
            Rc::new(bases)
        });
        Some((Rc::clone(bases), span))
    }
}

impl Inside {
    /// The bytes of an object that an access at this location stays in, where an array bounds it and it is known where that is.
    pub fn at(&self, location: Location) -> Option<Within> {
        let of_span = self.of_span.as_ref().and_then(|(bases, span)| span.inside(bases, location.object));
        // Who accesses more bytes than there are does not mean the array.
        let room = || self.rooms.as_ref().and_then(|(rooms, size)| (*rooms.get(&location)?).filter(|(_, bytes)| size <= bytes));
        of_span.or_else(room)
    }
}

impl Span {
    fn inside(&self, bases: &Bases, object: AbstractObjectId) -> Option<Within> {
        let Span { distance, size, .. } = *self;
        let offset = match (*bases.get(&object)?)? {
            Offset::At(at) => Offset::At(at.checked_add_signed(distance)?),
            Offset::Class { residue, stride } if size <= stride => {
                let residue = (i128::from(residue) + i128::from(distance)).rem_euclid(i128::from(stride));
                Offset::Class { residue: u64::try_from(residue).ok()?, stride }
            }
            Offset::Class { .. } | Offset::Any => return None,
        };
        Some((Location { object, offset }, size))
    }
}

fn greatest_common_divisor(left: u64, right: u64) -> u64 {
    if right == 0 { left } else { greatest_common_divisor(right, left % right) }
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
    let stride = terms.iter().map(|term| term.stride.unsigned_abs()).fold(0, greatest_common_divisor);
    let indices = if terms.is_empty() { Indices::None } else { bounds().unwrap_or(Indices::Unbounded { stride }) };
    Some(Step { base: *base, constant: *constant, indices })
}
