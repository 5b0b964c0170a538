//! What a new thread knows when it begins: what its creator knows for good.
//!
//! # Theorem      Registers of code that runs once, cells that one instruction has written, once, and arrays whose loop is over and that nothing else writes keep what
//!                they hold. So what the creator knows of the handles there its children know as well.

use std::collections::{BTreeMap, BTreeSet};

use super::places::{Base, Value};
use super::state::{Bound, Place, State, Sweep, Trip};
use super::tree::Point;
use super::types::ThreadId;
use super::walk::{Walk, merge};

impl Walk<'_> {
    /// A thread is created here.
    pub fn begin(&mut self, point: Point, child: ThreadId, state: &State) {
        let creator = self.thread_of(point);
        self.exchange.live_at.entry((creator, child)).or_default().extend(state.running());
        self.exchange.ever_at[child.index()].extend(&state.ever);
        let is_lasting = |place: &Place| matches!(place, Place::Value(_)) || self.is_settled(place);
        let is_many = |thread: &ThreadId| self.places.tree.threads[thread.index()].is_many;
        let mut known: BTreeMap<ThreadId, BTreeSet<Place>> = BTreeMap::new();
        let own = state.live.iter().filter(|(one, _)| !is_many(one));
        let own = own.map(|(one, handles)| (one, handles.places_of_only_one().cloned().collect()));
        for (one, places) in own.chain(state.known.iter().map(|(one, places)| (one, places.clone()))) {
            let lasting: BTreeSet<Place> = places.into_iter().filter(|place| is_lasting(place)).collect();
            if !lasting.is_empty() && *one != child {
                known.insert(*one, lasting);
            }
        }
        let others = state.live.iter().filter(|(one, _)| **one != child && is_many(one));
        let swept = others.filter_map(|(one, handles)| Some((*one, handles.sweep()?.clone())));
        let known_in = swept.filter(|(one, sweep)| self.is_over(*one, sweep, point)).chain(state.known_in.clone()).collect();
        let all = (0..self.places.tree.threads.len()).map(ThreadId::from);
        let idle = all.filter(|one| self.is_idle(creator, *one, state)).collect();
        let (joined, ended) = (state.joined.clone(), state.ended.clone());
        let inherited = State { joined, ended, known, known_in, idle, ..State::default() };
        let entry = &mut self.exchange.entry[child.index()];
        merge(entry, Some(inherited));
        // A thread that changes nothing ends as it began; whoever joins it need not wait for the next round.
        let is_walked = self.places.tree.roots.iter().any(|(thread, _, activation)| *thread == child && activation.is_some());
        if let (Some(entry), false) = (entry.clone(), is_walked) {
            self.end(child, &entry);
        }
    }

    /// Whether no instance of a thread runs now: it is made by this creator alone, who knows of none.
    fn is_idle(&self, creator: ThreadId, thread: ThreadId, state: &State) -> bool {
        let tree = self.places.tree;
        let [creation] = tree.creations[thread.index()][..] else { return false };
        creation.creator == creator && !tree.threads[creator.index()].is_many && !state.live.contains_key(&thread)
    }

    /// Whether the cells keep the handles of a thread's instances for good from this point on: they are stored by one instruction, in a loop that is executed once and
    /// is over, and nothing else ever writes them.
    fn is_over(&self, thread: ThreadId, sweep: &Sweep, point: Point) -> bool {
        let tree = self.places.tree;
        let activation = tree.activation(sweep.activation);
        let loops = &self.places.relevant.bodies[&activation.function].loops;
        let (one, points) = (loops.get(sweep.in_loop), self.sweep_points.get(sweep));
        let is_inside = |at: Point| tree.lifted(at, sweep.activation).is_some_and(|at| one.blocks.contains(&at.block));
        let has_lasting_bound = match &sweep.trip {
            Trip::Count(_) | Trip::Shape { bound: Bound::Memory(_), .. } => true,
            Trip::Shape { bound: Bound::Value(Value::Register(of, _)), .. } => tree.activation(*of).is_once,
            Trip::Shape { bound: Bound::Value(Value::Constant(_)), .. } => true,
            Trip::Unknown => false,
        };
        let (Some(locations), Some(points)) = (self.sweep_locations.get(sweep), points) else { return false };
        let [creation] = tree.creations[thread.index()][..] else { return false };
        let is_one_loop = activation.is_once && loops.is_reducible && one.parent.is_none() && is_inside(creation.point);
        let is_over = matches!(sweep.base, Base::Object(_)) && has_lasting_bound && is_one_loop && !is_inside(point);
        is_over && points.len() == 1 && self.writers.are_written_only_by(&self.places, sweep, locations, points)
    }
}
