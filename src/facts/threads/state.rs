//! What a thread knows at a point: which of its descendants may run, where their handles are, who has been joined.
//!
//! # Definition   `live` grows by union over paths, `joined` and everything about handles shrinks by intersection. A thread that is not live on one
//!                path has any handle there.

use std::collections::{BTreeMap, BTreeSet};

use super::super::loops::LoopId;
use super::barriers::Rounds;
use super::places::{Address, Base, Value};
use super::types::{ActivationId, ThreadId};
use crate::program::{CastKind, IntegerPredicate, RegisterId};

/// Where a handle is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Place {
    Value(Value),
    Cell(Address),
    /// What an activation returns, until its caller has it.
    Returned(ActivationId),
}

/// The cells that a loop goes through: in iteration k the one at `first + k·stride`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Sweep {
    pub activation: ActivationId,
    pub in_loop: LoopId,
    pub base: Base,
    pub first: i64,
    pub stride: i64,
    pub trip: Trip,
}

/// How often a loop runs at most.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Trip {
    Count(u64),
    /// Two loops of the same shape with the same bound run equally often.
    Shape {
        start: i64,
        step: i64,
        predicate: Predicate,
        of_next: bool,
        widened: Option<bool>,
        is_tested_first: bool,
        bound: Bound,
    },
    Unknown,
}

/// An ordered copy of a comparison.
pub(super) type Predicate = u8;

pub(super) fn predicate_number(predicate: IntegerPredicate) -> Predicate {
    predicate as u8
}

pub(super) fn widening(cast: Option<CastKind>) -> Option<bool> {
    cast.map(|cast| cast == CastKind::SignExtend)
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Bound {
    Value(Value),
    /// What lies at this address, which nothing changes.
    Memory(Address),
}

/// What is known of the handles of the live instances of a thread that the running thread has created itself.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(super) struct Handles {
    /// If there are any: one instance at most is live, and each of these places holds its handle.
    pub places: BTreeSet<Place>,
    /// Each live instance's handle is in a cell of its own among these.
    pub sweep: Option<Sweep>,
}

impl Handles {
    fn meet(&mut self, other: &Handles) {
        self.places.retain(|place| other.places.contains(place));
        if self.sweep != other.sweep {
            self.sweep = None;
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(super) struct State {
    /// Descendants that may run, or be created by one that may.
    pub live: BTreeMap<ThreadId, Handles>,
    /// Those of them that this thread itself may have created: handles speak of these instances.
    pub direct: BTreeSet<ThreadId>,
    /// Descendants that may have been created so far, by this thread or one it created.
    pub ever: BTreeSet<ThreadId>,
    /// Threads that are no descendants and have ended: all that they ever do is before this point.
    pub joined: BTreeSet<ThreadId>,
    /// Threads that exist once and have ended, whoever created them (`remote`).
    pub ended: BTreeSet<ThreadId>,
    /// Threads that are no descendants, exist once, and whose handle is in these places.
    pub known: BTreeMap<ThreadId, BTreeSet<Place>>,
    /// What this iteration of a loop has joined.
    pub done: BTreeSet<Sweep>,
    /// By barrier: how often this thread has passed it; none that is not there.
    pub rounds: BTreeMap<usize, Rounds>,
    /// By the result of a creation: the threads that are not live if it says that there is no new thread.
    pub tried: BTreeMap<Place, BTreeSet<ThreadId>>,
}

impl State {
    /// Descendants that may run, or be created by one that may. Who exists once and has ended is not created again.
    pub fn running(&self) -> impl Iterator<Item = ThreadId> {
        self.live.keys().copied().filter(|thread| !self.ended.contains(thread))
    }

    /// What holds on both paths.
    pub fn meet(&mut self, other: &State) {
        self.tried = self.tried_in_both(other);
        for (thread, handles) in &other.live {
            self.live.entry(*thread).and_modify(|own| own.meet(handles)).or_insert_with(|| handles.clone());
        }
        self.direct.extend(&other.direct);
        self.ever.extend(&other.ever);
        self.joined.retain(|thread| other.joined.contains(thread));
        self.ended.retain(|thread| other.ended.contains(thread));
        self.known.retain(|thread, places| match other.known.get(thread) {
            Some(others) => {
                places.retain(|place| others.contains(place));
                !places.is_empty()
            }
            None => false,
        });
        self.done.retain(|sweep| other.done.contains(sweep));
        let barriers: BTreeSet<usize> = self.rounds.keys().chain(other.rounds.keys()).copied().collect();
        for barrier in barriers {
            let rounds = self.rounds.entry(barrier).or_default();
            *rounds = rounds.either(other.rounds.get(&barrier).copied().unwrap_or_default());
        }
    }

    /// A thread that is not live on one path is none there, whatever the result is.
    fn tried_in_both(&self, other: &State) -> BTreeMap<Place, BTreeSet<ThreadId>> {
        let holds = |state: &State, place: &Place, thread: &ThreadId| {
            !state.live.contains_key(thread) || state.tried.get(place).is_some_and(|threads| threads.contains(thread))
        };
        let mut both: BTreeMap<Place, BTreeSet<ThreadId>> = BTreeMap::new();
        for (place, threads) in self.tried.iter().chain(&other.tried) {
            let threads = threads.iter().filter(|thread| holds(self, place, thread) && holds(other, place, thread)).copied();
            both.entry(place.clone()).or_default().extend(threads);
        }
        both.retain(|_, threads| !threads.is_empty());
        both
    }

    /// The result says that there is no new thread.
    pub fn failed(&mut self, result: &Place) {
        for thread in self.tried.remove(result).unwrap_or_default() {
            self.live.remove(&thread);
            self.direct.remove(&thread);
        }
    }

    /// These may run from now on, whatever results say.
    pub fn run(&mut self, threads: &BTreeSet<ThreadId>) {
        self.tried.retain(|_, tried| {
            tried.retain(|thread| !threads.contains(thread));
            !tried.is_empty()
        });
    }

    /// Forgets what is computed from registers that get new values.
    pub fn forget_registers(&mut self, is_new: &dyn Fn(ActivationId, RegisterId) -> bool) {
        let is_new_address = |address: &Address| address.registers().any(|(activation, register)| is_new(activation, register));
        let is_new_value =
            |value: &Value| matches!(value, Value::Register(activation, register) if is_new(*activation, *register));
        let is_new_place = |place: &Place| match place {
            Place::Value(value) => is_new_value(value),
            Place::Cell(address) => is_new_address(address),
            Place::Returned(_) => false,
        };
        let is_new_sweep = |sweep: &Sweep| {
            let of_base = matches!(sweep.base, Base::Register(activation, register) if is_new(activation, register));
            of_base
                || match &sweep.trip {
                    Trip::Shape { bound: Bound::Value(value), .. } => is_new_value(value),
                    Trip::Shape { bound: Bound::Memory(address), .. } => is_new_address(address),
                    Trip::Count(_) | Trip::Unknown => false,
                }
        };
        for handles in self.live.values_mut() {
            handles.places.retain(|place| !is_new_place(place));
            if handles.sweep.as_ref().is_some_and(&is_new_sweep) {
                handles.sweep = None;
            }
        }
        self.known.values_mut().for_each(|places| places.retain(|place| !is_new_place(place)));
        self.done.retain(|sweep| !is_new_sweep(sweep));
        self.tried.retain(|place, _| !is_new_place(place));
    }

    /// Forgets what a loop did in an earlier execution of it.
    pub fn forget_loops(&mut self, is_old: &dyn Fn(ActivationId, LoopId) -> bool) {
        for handles in self.live.values_mut() {
            if handles.sweep.as_ref().is_some_and(|sweep| is_old(sweep.activation, sweep.in_loop)) {
                handles.sweep = None;
            }
        }
        self.done.retain(|sweep| !is_old(sweep.activation, sweep.in_loop));
    }

    /// Forgets where handles are, but for places that keep them for good.
    pub fn forget_handles(&mut self, is_lasting: &dyn Fn(&Place) -> bool) {
        for handles in self.live.values_mut() {
            handles.places.retain(is_lasting);
            handles.sweep = None;
        }
        self.known.retain(|_, places| {
            places.retain(is_lasting);
            !places.is_empty()
        });
        self.done.clear();
    }
}
