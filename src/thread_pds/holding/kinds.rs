//! Kinds of mutexes: which ones may refuse a second acquisition by their owner instead of counting or blocking?
//!
//! # Definition   A lock *may fail when held* unless it is shown to be normal or recursive: its static initialiser says so, or it is initialised
//!                by calls all of which say so, and nothing else writes the field that keeps the kind.
//! # Why          A second acquisition of a recursive mutex adds a level, of a normal one it never returns; only an error-checking one returns
//!                without adding a level, and then two names may stand for one level.

use rustc_hash::{FxHashMap, FxHashSet};

use super::attributes::Attributes;
use crate::facts::accesses::{Action, MemoryAccess};
use crate::facts::{AbstractObjectId, AbstractObjectKind, Facts, Location, Offset};
use crate::models::{Attribute, BoundModels, Effect, LockClass, LockKindSource};
use crate::program::{Argument, BlockId, Callee, Constant, FunctionId, Instruction, Operand, Operation, Program};

/// `PTHREAD_MUTEX_ERRORCHECK` in the low bits of a kind.
const ERROR_CHECKING: u128 = 2;

/// What a lock does when its holder takes it again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TakenAgain {
    Blocks,
    Counts,
    /// Says so, and does nothing.
    Refuses,
}

#[derive(Debug, Default)]
pub struct Kinds {
    /// Locks that are shown to block, or to count.
    again: FxHashMap<Location, TakenAgain>,
    /// Where locks other than mutexes lie, which never say that they are held, and mutexes that are shown not to.
    harmless: FxHashSet<Location>,
    /// Where users' own locks lie: nothing says what these do, and machines take them to block.
    custom: FxHashSet<Location>,
}

/// A library call in the program.
pub(super) struct Call<'p> {
    pub function: FunctionId,
    pub block: BlockId,
    pub index: usize,
    pub arguments: &'p [Argument],
    pub effects: &'p [Effect],
}

impl Kinds {
    pub fn of(program: &Program, models: &BoundModels<'_>, facts: &Facts<'_>) -> Kinds {
        let calls = library_calls(program, models, facts);
        let mut taken: FxHashSet<Location> = FxHashSet::default();
        let mut harmless: FxHashSet<Location> = FxHashSet::default();
        let mut again: FxHashMap<Location, TakenAgain> = FxHashMap::default();
        let mut custom: FxHashSet<Location> = FxHashSet::default();
        for call in &calls {
            for effect in call.effects {
                if let Effect::Acquire { lock, class, .. } = effect {
                    let locations = call.locations(facts, *lock);
                    match class {
                        LockClass::Mutex => taken.extend(locations),
                        LockClass::Spin | LockClass::Custom => {
                            // Of a user's own lock it is not known; to count is to do no less.
                            let kind = if *class == LockClass::Spin { TakenAgain::Blocks } else { TakenAgain::Counts };
                            again.extend(locations.iter().map(|location| (*location, kind)));
                            if *class == LockClass::Custom {
                                custom.extend(locations.iter().copied());
                            }
                            harmless.extend(locations);
                        }
                        LockClass::ReadWrite => {}
                    }
                }
            }
        }
        if taken.is_empty() {
            return Kinds { again, harmless, custom };
        }
        harmless.retain(|location| !taken.contains(location));
        again.retain(|location, _| !taken.contains(location));
        let sets_error_checking = calls.iter().any(|call| {
            call.effects.iter().any(|effect| match effect {
                Effect::SetAttribute { attribute: Attribute::MutexType, value, .. } => {
                    !matches!(call.number(program, *value), Some(kind) if kind & 3 != ERROR_CHECKING)
                }
                _ => false,
            })
        });
        let initialised_as = initialised_as(program, facts, &calls);
        let written = written(program, models, facts, &taken);
        let is_harmless = |location: &Location| {
            let points_to = &facts.points_to;
            let overlaps = |other: Location| points_to.may_alias(*location, 1, other, 1);
            let is_safe = |kind: Option<TakenAgain>| kind.map_or(!sets_error_checking, |kind| kind != TakenAgain::Refuses);
            let calls: Vec<bool> =
                initialised_as.iter().filter(|(other, _)| overlaps(*other)).map(|(_, kind)| is_safe(*kind)).collect();
            let is_static = static_kind(program, facts, *location).is_some_and(|kind| kind != TakenAgain::Refuses);
            (is_static || !calls.is_empty()) && calls.iter().all(|safe| *safe) && !written.contains(location)
        };
        for location in taken.iter().filter(|location| !written.contains(location)) {
            let overlaps = |other: Location| facts.points_to.may_alias(*location, 1, other, 1);
            // What the bytes say is what holds until the first initialisation by a call.
            let of_static = static_kind(program, facts, *location);
            let mut kinds = initialised_as.iter().filter(|(other, _)| overlaps(*other)).map(|(_, kind)| *kind).peekable();
            let first = if kinds.peek().is_some() { kinds.next().flatten() } else { of_static };
            if let Some(first) = first
                && kinds.all(|kind| kind == Some(first))
            {
                again.insert(*location, first);
            }
        }
        harmless.extend(taken.iter().copied().filter(is_harmless));
        Kinds { again, harmless, custom }
    }

    /// What all of these locks do when their holder takes them again, where that is shown.
    pub fn when_taken_again(&self, locations: &[Location]) -> Option<TakenAgain> {
        let (first, others) = locations.split_first()?;
        let kind = *self.again.get(first)?;
        others.iter().all(|other| self.again.get(other) == Some(&kind)).then_some(kind)
    }

    /// Whether whoever takes one of these locks again may wait for itself: unless each is shown to count, or to refuse.
    pub fn may_wait_for_itself(&self, locations: &[Location]) -> bool {
        let returns = |location: &Location| {
            !self.custom.contains(location) && matches!(self.again.get(location), Some(TakenAgain::Counts | TakenAgain::Refuses))
        };
        locations.is_empty() || !locations.iter().all(returns)
    }

    /// Whether a second acquisition of one of these locks by its owner may return without adding a level.
    pub fn may_fail_when_held(&self, locations: &[Location]) -> bool {
        locations.is_empty() || !locations.iter().all(|location| self.harmless.contains(location))
    }
}

impl Call<'_> {
    pub fn locations(&self, facts: &Facts<'_>, index: usize) -> Vec<Location> {
        let argument = self.arguments.get(index);
        argument.map_or(Vec::new(), |argument| facts.points_to.pointees(self.function, argument.value).collect())
    }

    pub fn number(&self, program: &Program, index: usize) -> Option<u128> {
        match self.arguments.get(index)?.value {
            Operand::Constant(constant) => match program.constants[constant] {
                Constant::Integer { value, .. } => Some(value),
                Constant::Null => Some(0),
                _ => None,
            },
            Operand::Register(_) => None,
        }
    }
}

fn library_calls<'p>(program: &'p Program, models: &'p BoundModels<'_>, facts: &Facts<'_>) -> Vec<Call<'p>> {
    let mut calls = Vec::new();
    for (function, body) in program.functions.iter_enumerated() {
        if !facts.points_to.is_reachable(function) {
            continue;
        }
        for (block, content) in body.blocks.iter_enumerated() {
            for (index, instruction) in content.instructions.iter().enumerate() {
                let Operation::Call { callee, arguments, .. } = &instruction.operation else { continue };
                for callee in callees(facts, callee, instruction) {
                    if let Some(model) = models[callee] {
                        calls.push(Call { function, block, index, arguments, effects: &model.effects });
                    }
                }
            }
        }
    }
    calls
}

fn callees(facts: &Facts<'_>, callee: &Callee, instruction: &Instruction) -> Vec<FunctionId> {
    match callee {
        Callee::Direct(function) => vec![*function],
        Callee::Indirect(_) => facts.points_to.callees(instruction.site).to_vec(),
    }
}

/// Where mutexes are initialised, and as what; `None` when that is not known.
fn initialised_as(program: &Program, facts: &Facts<'_>, calls: &[Call<'_>]) -> Vec<(Location, Option<TakenAgain>)> {
    let attributes = Attributes::of(program, facts, calls);
    let mut found = Vec::new();
    for call in calls {
        for effect in call.effects {
            let Effect::InitializeLock { lock, class: LockClass::Mutex, kind } = effect else { continue };
            let kind = match kind {
                LockKindSource::Default => Some(TakenAgain::Blocks),
                LockKindSource::TypeFlags(index) => call.number(program, *index).map(by_flags),
                LockKindSource::Attributes(index) if call.number(program, *index) == Some(0) => Some(TakenAgain::Blocks),
                LockKindSource::Attributes(index) => attributes.kind(call, *index).map(by_number),
            };
            found.extend(call.locations(facts, *lock).into_iter().map(|location| (location, kind)));
        }
    }
    found
}

/// `PTHREAD_MUTEX_RECURSIVE` in the low bits of a kind; the other kinds than these two are normal and adaptive.
fn by_number(kind: u128) -> TakenAgain {
    match kind & 3 {
        1 => TakenAgain::Counts,
        ERROR_CHECKING => TakenAgain::Refuses,
        _ => TakenAgain::Blocks,
    }
}

/// `mtx_recursive` is a bit of its own.
fn by_flags(flags: u128) -> TakenAgain {
    if flags & 1 == 1 { TakenAgain::Counts } else { TakenAgain::Blocks }
}

/// The locks, of these, whose kind something else than the library may write.
fn written(program: &Program, models: &BoundModels<'_>, facts: &Facts<'_>, locks: &FxHashSet<Location>) -> FxHashSet<Location> {
    let mut by_object: FxHashMap<AbstractObjectId, Vec<(Location, Location)>> = FxHashMap::default();
    for lock in locks {
        by_object.entry(lock.object).or_default().push((*lock, kind_field(program, *lock)));
    }
    let mut written = FxHashSet::default();
    for (function, body) in program.functions.iter_enumerated() {
        for (block, content) in body.blocks.iter_enumerated() {
            for (index, instruction) in content.instructions.iter().enumerate() {
                let plain =
                    |access: &&MemoryAccess| access.action.writes() && access.action != Action::End && !access.is_atomic();
                let mut accesses = facts.accesses.at(function, block, index).iter().filter(plain).peekable();
                if accesses.peek().is_none() || is_harmless_write(program, models, facts, instruction) {
                    continue;
                }
                for access in accesses {
                    for location in access.locations(&facts.points_to, &facts.call_graph, &program.layout, function) {
                        let fields = by_object.get(&location.object).into_iter().flatten();
                        let size = access.size.unwrap_or(u64::MAX / 2);
                        let hit = fields.filter(|(_, field)| facts.points_to.may_alias(location, size, *field, KIND_BYTES));
                        written.extend(hit.map(|(lock, _)| *lock));
                    }
                }
            }
        }
    }
    written
}

/// Where a mutex keeps its kind.
fn kind_field(program: &Program, lock: Location) -> Location {
    let distance = kind_distance(program);
    let offset = match lock.offset {
        Offset::At(at) => Offset::At(at + distance),
        Offset::Class { residue, stride } => Offset::Class { residue: (residue + distance) % stride, stride },
        Offset::Any => Offset::Any,
    };
    Location { object: lock.object, offset }
}

/// `__kind`, in bytes from the start of a mutex.
fn kind_distance(program: &Program) -> u64 {
    if program.layout.pointer_bytes == 8 { 16 } else { 12 }
}

const KIND_BYTES: u64 = 4;

/// Initialisation and destruction by the library, and memory that becomes zero.
fn is_harmless_write(program: &Program, models: &BoundModels<'_>, facts: &Facts<'_>, instruction: &Instruction) -> bool {
    match &instruction.operation {
        Operation::SetMemory { byte: Operand::Constant(constant), .. } => {
            matches!(program.constants[*constant], Constant::Integer { value: 0, .. })
        }
        Operation::Call { callee, .. } => {
            let is_own = |effect: &Effect| matches!(effect, Effect::InitializeLock { .. } | Effect::DestroyLock { .. });
            callees(facts, callee, instruction)
                .iter()
                .all(|callee| models[*callee].is_some_and(|model| model.effects.iter().any(is_own)))
        }
        _ => false,
    }
}

/// The kind in the initial bytes of a mutex in a global, or of all mutexes of an array that may be meant.
fn static_kind(program: &Program, facts: &Facts<'_>, lock: Location) -> Option<TakenAgain> {
    let AbstractObjectKind::Global(global) = facts.points_to.object(lock.object).kind else { return None };
    let global = &program.globals[global];
    if global.is_external {
        return None;
    }
    let byte = |offset: u64| u128::from(usize::try_from(offset).ok().and_then(|at| global.bytes.get(at).copied()).unwrap_or(0));
    let distance = kind_distance(program);
    let at = |at: u64| by_number((0..KIND_BYTES).map(|offset| byte(at + distance + offset) << (8 * offset)).sum());
    match lock.offset {
        Offset::At(offset) => Some(at(offset)),
        Offset::Class { residue, stride } => {
            let elements = (0..).map(|number| residue + number * stride);
            let mut kinds = elements.take_while(|offset| offset + distance + KIND_BYTES <= global.size).map(at);
            let first = kinds.next()?;
            kinds.all(|kind| kind == first).then_some(first)
        }
        Offset::Any => None,
    }
}
