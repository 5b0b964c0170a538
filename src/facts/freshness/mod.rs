//! Freshness: which accesses are made to an object that no other thread can know yet?
//!
//! # Definition   A *root* is a register that holds the address of an object made in this activation (stack, heap, what a callee made and
//!                returns), or a parameter, object by object: every call that gives an address in the object gives such a one. An object is *published* by an instruction that stores an
//!                address in it anywhere, or hands one to a new thread, to the library to keep, to unknown code. An access is fresh if its
//!                address is derived from roots alone, and on no way since the root was executed an instruction, callees' included, may have
//!                published an object that the root may point to. Greatest solution over all calls.
//! # Theorem      Another thread's access to a byte of a fresh access happens after the fresh access, if no publication of the object races.
//!                Other threads have the address only from a publication. All publications of the object come later in the thread of the fresh access, or
//!                follow from one that does. From there the address is passed on by thread creation, thread results, and stores whose loads, as none
//!                of these stores races, happen after them; so all uses of the address happen after the first publication.
//! # Deviations   1. Objects by their abstract names: a publication of one instance counts for all.  2. A store anywhere publishes, also into an
//!                object that is fresh itself.  3. Every copy of memory counts as a publication of all objects whose addresses may be in
//!                copied memory.  4. An atomic publication must release, and every atomic load that may get the address acquire; objects
//!                that code outside the program may hold, and what the library keeps, are never fresh.

mod flow;
mod publication;
mod roots;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::accesses::{Accesses, Position, Positions};
use super::call_graph::CallGraph;
use super::points_to::{AbstractObjectId, PointsTo};
use crate::models::BoundModels;
use crate::program::Program;

/// Whether an access can race.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fresh {
    /// It may.
    No,
    /// It cannot: the object is never published before, and then only to threads that begin or join later.
    Always,
    /// It cannot unless one of these publications is an end of a race.
    Unless(PublicationsId),
}

/// An interned list of publications.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PublicationsId(u32);

/// The objects that an access touches while they are fresh; whatever else it touches is not.
type Answers = SmallVec<[(AbstractObjectId, Fresh); 1]>;

/// The freshness of every access of a program.
pub struct Freshness {
    positions: Positions,
    /// By position: where its answers begin in `answers`, one list for each access; `None` where none is fresh.
    starts: FxHashMap<usize, u32>,
    answers: Vec<Answers>,
    publications: Vec<Box<[Position]>>,
}

impl Freshness {
    pub fn of(
        program: &Program,
        models: &BoundModels<'_>,
        points_to: &PointsTo,
        calls: &CallGraph,
        accesses: &Accesses,
    ) -> Freshness {
        flow::solve(program, models, points_to, calls, accesses)
    }

    /// Of the access with this number among those of the instruction (`Accesses::at`), when it touches this object.
    pub fn at(&self, position: Position, access: usize, object: AbstractObjectId) -> Fresh {
        let number = self.positions.number(position.function, position.block, position.index);
        let Some(start) = self.starts.get(&number) else { return Fresh::No };
        let answers = &self.answers[*start as usize + access];
        answers.iter().find(|(known, _)| *known == object).map_or(Fresh::No, |(_, fresh)| *fresh)
    }

    /// Where the objects of such accesses are published, ascending.
    pub fn publications(&self, id: PublicationsId) -> &[Position] {
        &self.publications[id.0 as usize]
    }

    /// How many accesses are fresh in some object: always, and unless a publication races.
    pub fn counts(&self) -> (usize, usize) {
        let of = |answers: &Answers, wanted: fn(&Fresh) -> bool| answers.iter().any(|(_, answer)| wanted(answer));
        let count = |wanted: fn(&Fresh) -> bool| self.answers.iter().filter(|answers| of(answers, wanted)).count();
        (count(|answer| *answer == Fresh::Always), count(|answer| matches!(answer, Fresh::Unless(_))))
    }
}
