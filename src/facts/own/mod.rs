//! Own: which accesses touch an object that the running thread has made itself?
//!
//! # Definition   An address is *of the thread's own making* for an object when it was counted from what this activation has made (a variable, a thread-local, an
//!                allocation), from a parameter or a result of which the same is true in every call, from what it found in memory of its own, where nobody
//!                else puts such addresses (`memory`), and never from anything else that may point to the object. Memory of its own is what the thread has made, and its
//!                part of what it was created with (`parts`). Greatest solution over all calls; what is computed is its complement, the objects that may be *foreign*.
//! # Theorem      The object that an access touches through such an address was made by the thread that executes the access: registers, arguments and
//!                results stay in one thread, a function that begins otherwise than by a call promises nothing, and by induction over the run every address in memory of
//!                an owner that is not counted as foreign there is one of what the owner has made. So two threads that touch one abstract object, each
//!                through such an address, touch two objects. No order of accesses is needed. An address in a thread's part that is none of the others' (`foreign`) is counted from the
//!                argument of the thread that has it, however it came to it, and says which argument that is (`values::shape_in_part`).
//! # Example      Every worker has its own `char path[4096]`, gives it to a function that stores where the name ends into a table, and goes on writing to
//!                it: the table's readers may race with that, other workers' writes do not. So it is when it stores it in `self->path`, and goes on from there.
//! # Deviations   1. A register with many origins is taken for what points-to says, and so is what lies in memory to which very many pointers may point.  2. Parted objects have no other owner, so there are two solutions, with parts and without.
//!                3. Library functions that call back before they return pass addresses in the objects that they got; how far such an address is from a part's begin is not known.  4. The text that `strerror` returns is an object that the calling thread has made: glibc documents that each thread has its own.

mod foreign;
mod memory;
mod origins;
mod parts;
mod solve;

use fixedbitset::FixedBitSet;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::accesses::{Accesses, MemoryAccess, Place, library_model};
use super::call_graph::CallGraph;
use super::escape::Escape;
use super::points_to::{AbstractObjectId, AbstractObjectKind, PointsTo};
use super::threads::Threads;
use super::values::InPart;
use crate::deadline::{Deadline, OutOfTime};
use crate::models::{BoundModels, Builtin};
use crate::program::{FunctionId, Operand, Operation, Program};
use origins::{callees, returns_text};
use parts::parts;
use solve::{Ground, Known, Solution};

/// By operand of a function: the objects, ascending.
type Owned = FxHashMap<(FunctionId, Operand), SmallVec<[AbstractObjectId; 2]>>;

pub struct Own {
    /// The objects that a thread has made itself when it reaches them by the operand.
    owned: Owned,
    /// Where in its own part of an object a thread accesses so many bytes by an operand.
    in_parts: FxHashMap<(FunctionId, Operand, Option<u64>), (AbstractObjectId, InPart)>,
    /// Texts of the library of which each thread has one.
    texts: FixedBitSet,
    /// What reaches a library function by another way than its own call: strings that `strtok` keeps, which another thread may have given.
    kept: FxHashSet<(FunctionId, Operand)>,
    /// Whether a thread may walk through the arguments of another one's call.
    shares_lists: bool,
}

impl Own {
    pub fn of(
        program: &Program,
        models: &BoundModels<'_>,
        (points_to, calls, escape): (&PointsTo, &CallGraph, &Escape),
        (threads, accesses): (&Threads, &Accesses),
        deadline: Deadline,
    ) -> Result<Own, OutOfTime> {
        let objects = |is_meant: &dyn Fn(AbstractObjectId) -> bool| {
            let all = points_to.objects().map(|(object, _)| object);
            all.filter(|object| is_meant(*object)).map(AbstractObjectId::index).collect::<FixedBitSet>()
        };
        let texts = objects(&|object| is_text(program, models, points_to, object));
        let made = objects(&|object| is_made(points_to, object) || texts.contains(object.index()));
        let parts = parts(program, points_to, calls, threads);
        let is_parted = |object: AbstractObjectId| parts.iter().any(|part| part.object == object);
        let shares_lists = points_to.objects().any(|(object, _)| is_list(points_to, object) && escape.is_shared(object));
        let kept = kept_strings(program, models, points_to);
        let in_parts = FxHashMap::default();
        let mut own = Own { owned: Owned::default(), in_parts, texts: texts.clone(), kept, shares_lists };
        for parts in [&[][..], &parts[..]].iter().take(if parts.is_empty() { 1 } else { 2 }) {
            let is_part = |object: AbstractObjectId| !parts.is_empty() && is_parted(object);
            let tracked = objects(&|object| (made.contains(object.index()) || is_part(object)) && escape.is_shared(object));
            let is_known = |object| !points_to.may_be_returned(object) && !points_to.is_reached_by_horde(object);
            let is_list = |object| !shares_lists && is_list(points_to, object);
            let followed =
                objects(&|object| (is_kept(points_to, object) || is_list(object) || is_part(object)) && is_known(object));
            let ground =
                Ground { program, models, points_to, tracked: &tracked, followed: &followed, parts, known: Known::default() };
            let solution = Solution::of(&ground, (calls, accesses), deadline)?;
            own.note(&ground, &solution, accesses);
            own.note_parts(&ground, &solution, accesses);
        }
        Ok(own)
    }

    /// What the accesses of a program touch that their threads have made.
    fn note(&mut self, ground: &Ground<'_>, solution: &Solution, accesses: &Accesses) {
        let mut seen: FxHashSet<(FunctionId, Operand)> = FxHashSet::default();
        let operands = all_accesses(ground, accesses).filter_map(|(id, access)| match access.place {
            Place::Operand(operand) => Some((id, operand)),
            Place::Foreign(owner, operand) => Some((owner, operand)),
            _ => None,
        });
        for (id, operand) in operands {
            if !seen.insert((id, operand)) || ground.held(id, operand).is_empty() {
                continue;
            }
            let foreign = solution.foreign(ground, id, operand, Some(1));
            let pointees = ground.points_to.pointees(id, operand).map(|location| location.object);
            let is_own = |object: &AbstractObjectId| {
                let is_part = ground.parts.iter().any(|part| part.object == *object);
                ground.tracked.contains(object.index()) && !is_part && !foreign.contains(*object)
            };
            let mut own: SmallVec<[AbstractObjectId; 2]> = pointees.filter(is_own).collect();
            let owned = self.owned.entry((id, operand)).or_default();
            owned.append(&mut own);
            owned.sort_unstable();
            owned.dedup();
        }
    }

    /// What of their own parts the threads of a program access.
    fn note_parts(&mut self, ground: &Ground<'_>, solution: &Solution, accesses: &Accesses) {
        for (id, access) in all_accesses(ground, accesses).filter(|_| !ground.parts.is_empty()) {
            let Some(operand) = access.operand() else { continue };
            let key = (id, operand, access.size);
            let held = ground.held(id, operand);
            let Some(part) = ground.parts.iter().find(|part| held.contains(part.object) && !self.in_parts.contains_key(&key))
            else {
                continue;
            };
            // What is accessed without a size stays in the array.
            let of_room = || {
                let rooms = ground.points_to.rooms_in(ground.points_to.set_of(id, operand)?, |object| object == part.object);
                rooms.into_values().map(|room| Some(room?.1)).try_fold(0, |most, bytes| Some(bytes?.max(most)))
            };
            let in_part = access.size.or_else(of_room).and_then(|size| solution.in_part(ground, (id, operand), size, part));
            if let Some(in_part) = in_part {
                self.in_parts.insert(key, (part.object, in_part));
            }
        }
    }

    /// Where in its own thread's part an access of a function lies, when it touches this object.
    pub fn in_part(&self, function: FunctionId, access: &MemoryAccess, object: AbstractObjectId) -> Option<InPart> {
        let (parted, in_part) = self.in_parts.get(&(function, access.operand()?, access.size))?;
        (*parted == object).then_some(*in_part)
    }

    /// Whether an access of a function, when it touches this object, touches one that its own thread has made.
    pub fn is_own(&self, function: FunctionId, access: &MemoryAccess, object: AbstractObjectId) -> bool {
        let is_owned = |key| self.owned.get(&key).is_some_and(|owned| owned.contains(&object));
        match access.place {
            Place::Operand(operand) => is_owned((function, operand)),
            // Arguments in a list were given by the thread that walks through it.
            Place::Foreign(owner, operand) => {
                !self.shares_lists && !self.kept.contains(&(owner, operand)) && is_owned((owner, operand))
            }
            Place::Library(_) => self.texts.contains(object.index()),
            _ => false,
        }
    }
}

fn all_accesses<'a>(ground: &'a Ground<'_>, accesses: &'a Accesses) -> impl Iterator<Item = (FunctionId, &'a MemoryAccess)> {
    let bodies = ground.program.functions.iter_enumerated().filter(|(id, _)| ground.is_body(*id));
    bodies.flat_map(move |(id, function)| {
        let blocks = function.blocks.iter_enumerated();
        blocks.flat_map(move |(block, content)| {
            (0..=content.instructions.len()).flat_map(move |index| accesses.at(id, block, index)).map(move |access| (id, access))
        })
    })
}

/// Objects that a thread makes as it runs.
fn is_made(points_to: &PointsTo, object: AbstractObjectId) -> bool {
    is_kept(points_to, object) || matches!(points_to.object(object).kind, AbstractObjectKind::ByValueCopy { .. })
}

/// Those of them into which nothing but instructions of the program puts addresses.
fn is_kept(points_to: &PointsTo, object: AbstractObjectId) -> bool {
    matches!(
        points_to.object(object).kind,
        AbstractObjectKind::Heap { .. } | AbstractObjectKind::StackSlot { .. } | AbstractObjectKind::ThreadLocal(_)
    )
}

/// What a call passes to a function that walks through its arguments.
fn is_list(points_to: &PointsTo, object: AbstractObjectId) -> bool {
    matches!(points_to.object(object).kind, AbstractObjectKind::VariadicArea(_))
}

/// A text that a library function returns, of which each thread has its own.
fn is_text(program: &Program, models: &BoundModels<'_>, points_to: &PointsTo, object: AbstractObjectId) -> bool {
    let AbstractObjectKind::Library(function) = points_to.object(object).kind else { return false };
    library_model(program, models, function).is_some_and(returns_text)
}

/// The strings that calls of `strtok` give to the library.
fn kept_strings(program: &Program, models: &BoundModels<'_>, points_to: &PointsTo) -> FxHashSet<(FunctionId, Operand)> {
    let keeps =
        |callee: FunctionId| library_model(program, models, callee).is_some_and(|model| model.builtin == Some(Builtin::Strtok));
    let mut kept = FxHashSet::default();
    for (id, function) in program.functions.iter_enumerated() {
        for instruction in function.blocks.iter().flat_map(|block| &block.instructions) {
            if let Operation::Call { arguments, .. } = &instruction.operation
                && callees(points_to, instruction).any(keeps)
            {
                kept.extend(arguments.first().map(|argument| (id, argument.value)));
            }
        }
    }
    kept
}
