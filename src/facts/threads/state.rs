//! What a thread knows at a point: which of its descendants may run, where their handles are, who has been joined.
//!
//! # Definition   `live` grows by union over paths, `joined` and everything about handles shrinks by intersection. A thread that is not live on one
//!                path has any handle there.

use std::collections::{BTreeMap, BTreeSet};

use super::super::loops::LoopId;
use super::barriers::Rounds;
use super::kept::Handles;
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
    /// Threads that are no descendants, each instance's handle in a cell of its own among these, which nobody writes any more.
    pub known_in: BTreeMap<ThreadId, Sweep>,
    /// Threads of which no instance ran when this thread was created: where those are that have not ended is known in any case.
    pub idle: BTreeSet<ThreadId>,
    /// What this iteration of a loop has joined, or found to hold no handle; whether it has certainly joined somebody.
    pub done: BTreeMap<Sweep, bool>,
    /// By barrier: how often this thread has passed it; none that is not there.
    pub rounds: BTreeMap<usize, Rounds>,
    /// By the result of a creation: the threads of which it says that they have one instance less, and whether there were others before; those of which there were
    /// none are not live then.
    pub tried: BTreeMap<Place, BTreeMap<ThreadId, bool>>,
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
        let is_known = |state: &State, thread: &ThreadId, sweep: &Sweep| {
            state.idle.contains(thread) || state.known_in.get(thread) == Some(sweep)
        };
        let mut known_in = other.known_in.clone();
        known_in.retain(|thread, sweep| is_known(self, thread, sweep));
        self.known_in.retain(|thread, sweep| is_known(other, thread, sweep));
        self.known_in.extend(known_in);
        self.idle.retain(|thread| other.idle.contains(thread));
        self.done = both_done(&self.done, &other.done);
        let barriers: BTreeSet<usize> = self.rounds.keys().chain(other.rounds.keys()).copied().collect();
        for barrier in barriers {
            let rounds = self.rounds.entry(barrier).or_default();
            *rounds = rounds.either(other.rounds.get(&barrier).copied().unwrap_or_default());
        }
    }

    /// A thread that is not live on one path is none there, whatever the result is.
    fn tried_in_both(&self, other: &State) -> BTreeMap<Place, BTreeMap<ThreadId, bool>> {
        let holds = |state: &State, place: &Place, thread: &ThreadId| {
            !state.live.contains_key(thread) || state.tried.get(place).is_some_and(|threads| threads.contains_key(thread))
        };
        let mut both: BTreeMap<Place, BTreeMap<ThreadId, bool>> = BTreeMap::new();
        for (place, threads) in self.tried.iter().chain(&other.tried) {
            for (thread, had_others) in threads {
                if holds(self, place, thread) && holds(other, place, thread) {
                    *both.entry(place.clone()).or_default().entry(*thread).or_default() |= had_others;
                }
            }
        }
        both
    }

    /// The result says that there is no new thread.
    pub fn failed(&mut self, result: &Place) {
        for (thread, had_others) in self.tried.remove(result).unwrap_or_default() {
            match self.live.get_mut(&thread) {
                Some(handles) if had_others => handles.forget_newest(),
                _ => {
                    self.live.remove(&thread);
                    self.direct.remove(&thread);
                }
            }
        }
    }

    /// These may run from now on, whatever results say.
    pub fn run(&mut self, threads: &BTreeSet<ThreadId>) {
        self.tried.retain(|_, tried| {
            tried.retain(|thread, _| !threads.contains(thread));
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
            handles.forget_places(is_new_place);
            handles.forget_sweeps(is_new_sweep);
        }
        self.known.values_mut().for_each(|places| places.retain(|place| !is_new_place(place)));
        self.done.retain(|sweep, _| !is_new_sweep(sweep));
        self.tried.retain(|place, _| !is_new_place(place));
    }

    /// Forgets what a loop did in an earlier execution of it.
    pub fn forget_loops(&mut self, is_old: &dyn Fn(ActivationId, LoopId) -> bool) {
        for handles in self.live.values_mut() {
            handles.forget_sweeps(|sweep| is_old(sweep.activation, sweep.in_loop));
        }
        self.done.retain(|sweep, _| !is_old(sweep.activation, sweep.in_loop));
    }

    /// Forgets where handles are, but for places that keep them for good.
    pub fn forget_handles(&mut self, is_lasting: &dyn Fn(&Place) -> bool) {
        for handles in self.live.values_mut() {
            handles.forget_places(|place| !is_lasting(place));
            handles.forget_sweeps(|_| true);
        }
        self.known.retain(|_, places| {
            places.retain(is_lasting);
            !places.is_empty()
        });
        self.done.clear();
    }
}

/// What has been done on both of two paths.
pub(super) fn both_done(one: &BTreeMap<Sweep, bool>, other: &BTreeMap<Sweep, bool>) -> BTreeMap<Sweep, bool> {
    one.iter().filter_map(|(sweep, joined)| other.get(sweep).map(|joined_too| (sweep.clone(), *joined && *joined_too))).collect()
}
