//! What each instruction does to a thread's knowledge: creations, joins, handles that move.
//!
//! # Definition   create B: live += B and all that B may create. A join that certainly meets every live instance of B: live −= B and all that B may
//!                have created, += what may run when B ends, −= what B itself has joined. Any other join changes nothing.
//! # Theorem      At every point of a run, every thread that the running thread has created, directly or not, and that has not ended, is live; every
//!                thread that is joined has ended. This holds for runs without undefined behaviour (a join of what is no thread).

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use super::super::call_graph::CallKind;
use super::barriers::{Barriers, Rounds};
use super::input::{Called, Input, is_handle_type};
use super::kept::Handles;
use super::phases::Phases;
use super::places::{Address, Places, Value};
use super::reach::Reach;
use super::remote::CertainJoins;
use super::results::ByResult;
use super::state::{Place, State, Sweep};
use super::sweep::sweep;
use super::tree::Point;
use super::types::{ActivationId, PhaseId, ThreadId};
use super::writers::{Write, Writers};
use crate::models::{Attempt, CallbackTime, Effect, FunctionModel, ResultConvention, SpawnCount};
use crate::program::{BlockId, Instruction, Operand, Operation, RegisterId, SiteId};

/// The walk of one activation, as it was last done.
pub(super) struct Record {
    pub round: usize,
    pub entry: State,
    pub exit: Option<State>,
    pub by_result: ByResult,
    /// The phases of each block that is reached: from which index on.
    pub phases: BTreeMap<BlockId, Vec<(usize, PhaseId)>>,
}

/// What threads know of one another.
#[derive(Default, Clone, PartialEq)]
pub(super) struct Exchange {
    /// What a thread begins with; `None` while its creation has not been reached.
    pub entry: Vec<Option<State>>,
    /// What may run when a thread ends, and who has been joined by then; `None` while its end has not been reached.
    pub end: Vec<Option<(BTreeSet<ThreadId>, BTreeSet<ThreadId>)>>,
    /// By creator and child: who may run when the child is created.
    pub live_at: BTreeMap<(ThreadId, ThreadId), BTreeSet<ThreadId>>,
    /// By thread: what its creator may have created before it.
    pub ever_at: Vec<BTreeSet<ThreadId>>,
}

pub(super) struct Walk<'a> {
    pub places: Places<'a>,
    pub writers: Writers,
    pub barriers: Barriers,
    pub certain: CertainJoins,
    pub exchange: Exchange,
    pub records: Vec<Option<Record>>,
    pub phases: Phases,
    pub round: usize,
    /// An activation did not come to rest: nothing is known.
    pub has_given_up: bool,
    /// Only grow.
    locations: BTreeMap<Address, Vec<Reach>>,
    /// Whether cells are settled, by how many locations were known of them.
    settled: RefCell<BTreeMap<(Address, usize), bool>>,
    pub sweep_locations: BTreeMap<Sweep, Vec<Reach>>,
    /// The instructions that store handles there.
    pub sweep_points: BTreeMap<Sweep, BTreeSet<Point>>,
    /// Where threads are certainly joined, as found in this round.
    pub join_sites: RefCell<BTreeMap<ThreadId, BTreeSet<SiteId>>>,
    pub swept_sites: BTreeMap<Sweep, BTreeSet<SiteId>>,
}

impl<'a> Walk<'a> {
    pub fn new(places: Places<'a>, writers: Writers, barriers: Barriers, certain: CertainJoins) -> Walk<'a> {
        let count = places.tree.threads.len();
        let exchange = Exchange {
            entry: vec![None; count],
            end: vec![None; count],
            live_at: BTreeMap::new(),
            ever_at: vec![BTreeSet::new(); count],
        };
        let records = places.tree.activations.iter().map(|_| None).collect();
        Walk {
            places,
            writers,
            barriers,
            exchange,
            records,
            phases: Phases::with(certain.threads()),
            certain,
            round: 0,
            has_given_up: false,
            locations: BTreeMap::new(),
            settled: RefCell::default(),
            sweep_locations: BTreeMap::new(),
            sweep_points: BTreeMap::new(),
            join_sites: RefCell::default(),
            swept_sites: BTreeMap::new(),
        }
    }

    pub fn thread_of(&self, point: Point) -> ThreadId {
        self.places.tree.activation(point.activation).thread
    }

    /// The knowledge after an instruction; `None` when the thread does not come past it.
    pub fn step(&mut self, point: Point, state: State) -> Option<State> {
        let function = self.places.tree.activation(point.activation).function;
        let instruction = self.places.input.instruction(function, point.block, point.index);
        match &instruction.operation {
            Operation::Load { address, .. } => Some(self.load(point, instruction.result, *address, state)),
            Operation::Store { address, value, .. } => Some(self.store(point, *address, *value, state)),
            Operation::Call { .. } => self.call(point, instruction, state),
            _ => Some(self.overwrite(point, state, (&[], None))),
        }
    }

    fn call(&mut self, point: Point, instruction: &'a Instruction, state: State) -> Option<State> {
        let mut after: Option<State> = None;
        let called = self.places.input.called(instruction);
        if called.is_empty() {
            return Some(state);
        }
        for called in called {
            let one = match called {
                Called::Library(model) => self.library(point, instruction, model, state.clone()),
                Called::Body(callee) => match self.child(point, callee) {
                    Some(child) => {
                        self.enter(child, state.clone()).map(|after| receive(after, child, point.activation, instruction.result))
                    }
                    None => Some(state.clone()),
                },
                Called::Outside => Some(state.clone()),
            };
            merge(&mut after, one);
        }
        after
    }

    fn child(&self, point: Point, callee: crate::program::FunctionId) -> Option<ActivationId> {
        self.places.tree.activation(point.activation).children.get(&(point.block, point.index, callee)).copied()
    }

    fn enter(&mut self, child: ActivationId, state: State) -> Option<State> {
        if !self.places.tree.activation(child).is_cut {
            return self.walk(child, state);
        }
        if self.places.tree.activation(child).is_quiet {
            let mut state = state;
            state.forget_handles(&|place| self.is_settled(place));
            return Some(state);
        }
        let thread = self.places.tree.activation(child).thread;
        let state = self.anything_may_happen(self.places.tree.created_in(child), state);
        self.create_in_cut_activations(thread, &state);
        self.end(thread, &state);
        Some(state)
    }

    /// All that the thread may create may run; no handle is known.
    fn everything_may_happen(&self, thread: ThreadId, state: State) -> State {
        self.anything_may_happen(&self.places.tree.descendants[thread.index()], state)
    }

    /// These threads may have been created; no handle is known.
    fn anything_may_happen(&self, descendants: &BTreeSet<ThreadId>, mut state: State) -> State {
        state.run(descendants);
        state.live.extend(descendants.iter().map(|one| (*one, Handles::default())));
        state.direct.extend(descendants);
        state.ever.extend(descendants);
        for barrier in 0..self.barriers.all.len() {
            let rounds = state.rounds.entry(barrier).or_default();
            *rounds = rounds.any_more();
        }
        state.forget_handles(&|place| self.is_settled(place));
        state
    }

    /// Whether a place keeps for good what it holds: a cell that one instruction, executed once, has written, and nothing else ever writes.
    pub fn is_settled(&self, place: &Place) -> bool {
        match place {
            Place::Value(_) | Place::Returned(_) => false,
            Place::Cell(cell) => {
                let Some(locations) = self.locations.get(cell) else { return false };
                let key = (cell.clone(), locations.len());
                let known = self.settled.borrow().get(&key).copied();
                let answer = known.unwrap_or_else(|| self.writers.settled_at(&self.places, cell, locations).is_some());
                self.settled.borrow_mut().insert(key, answer);
                answer
            }
        }
    }

    /// The creations of the thread's activations that are not walked.
    pub fn create_in_cut_activations(&mut self, thread: ThreadId, state: &State) {
        let all: BTreeSet<ThreadId> = (0..self.places.tree.threads.len()).map(ThreadId::from).collect();
        let cut: Vec<ThreadId> = (self.places.tree.activations.iter())
            .filter(|activation| activation.is_cut && activation.thread == thread)
            .flat_map(|activation| activation.creations.values().flatten().copied())
            .collect();
        for child in cut {
            self.exchange.live_at.entry((thread, child)).or_default().extend(&all);
            self.exchange.ever_at[child.index()].extend(&all);
            merge(&mut self.exchange.entry[child.index()], Some(State { joined: state.joined.clone(), ..State::default() }));
        }
    }

    /// The thread ends here.
    pub fn end(&mut self, thread: ThreadId, state: &State) {
        let live: BTreeSet<ThreadId> = state.running().collect();
        let end = &mut self.exchange.end[thread.index()];
        match end {
            Some((all, joined)) => {
                all.extend(&live);
                joined.retain(|one| state.joined.contains(one));
            }
            None => *end = Some((live, state.joined.clone())),
        }
    }

    fn library(
        &mut self,
        point: Point,
        instruction: &'a Instruction,
        model: &'a FunctionModel,
        mut state: State,
    ) -> Option<State> {
        let function = self.places.tree.activation(point.activation).function;
        let thread = self.thread_of(point);
        let writes = self.places.relevant.library_may_write_handle(self.places.input, function, point.block, point.index);
        for effect in &model.effects {
            match effect {
                Effect::Spawn { handle, count, result, .. } => {
                    state = self.create(point, instruction, *handle, (*count, *result), state);
                }
                Effect::Join { handle, attempt: Attempt::Blocking, .. } => {
                    state = self.join(point, instruction, *handle, state)?
                }
                Effect::WaitBarrier { .. } => {
                    for (barrier, is_certain) in self.barriers.waited_for(point) {
                        let rounds: &mut Rounds = state.rounds.entry(*barrier).or_default();
                        *rounds = rounds.passed(*is_certain);
                    }
                }
                Effect::ExitThread { .. } | Effect::ContinueExit => {
                    self.end(thread, &state);
                    return None;
                }
                Effect::Exit { .. } | Effect::Jump { .. } => return None,
                Effect::SaveJump { .. } => state = self.everything_may_happen(thread, state),
                Effect::Callback { when: CallbackTime::During, .. } | Effect::Dispatch => {
                    state = self.call_back(point, instruction, CallKind::Callback, state)?
                }
                Effect::Once { .. } => state = self.call_back(point, instruction, CallKind::Once, state)?,
                // Who may be detached is known for all times (`writers`); the rest has nothing to do with the order of threads.
                _ => {}
            }
        }
        Some(if writes { self.overwrite(point, state, (&[], None)) } else { state })
    }

    /// A routine runs any number of times, none among them.
    fn call_back(&mut self, point: Point, instruction: &Instruction, kind: CallKind, mut state: State) -> Option<State> {
        let function = self.places.tree.activation(point.activation).function;
        let routines: Vec<ActivationId> =
            self.places.input.started(function, instruction, kind).filter_map(|routine| self.child(point, routine)).collect();
        for _ in 0..8 {
            let before = state.clone();
            for routine in &routines {
                if let Some(after) = self.enter(*routine, state.clone()) {
                    state.meet(&after);
                }
            }
            if state == before || kind == CallKind::Once {
                return Some(state);
            }
        }
        self.has_given_up = true;
        Some(state)
    }

    fn create(
        &mut self,
        point: Point,
        instruction: &Instruction,
        handle: Option<usize>,
        (count, convention): (SpawnCount, Option<ResultConvention>),
        before: State,
    ) -> State {
        let activation = self.places.tree.activation(point.activation);
        let thread = activation.thread;
        let children = activation.creations.get(&(point.block, point.index)).cloned().unwrap_or_default();
        let mut again: BTreeMap<ThreadId, bool> = BTreeMap::new();
        for child in &children {
            self.begin(point, *child, &before);
        }
        let is_wild = self.places.relevant.bodies[&activation.function].is_wild;
        let handle =
            handle.and_then(|handle| Input::argument(instruction, handle)).filter(|_| !is_wild && count == SpawnCount::One);
        let cell = handle.and_then(|handle| self.cell(point, handle, thread));
        let swept = cell.as_ref().and_then(|cell| self.swept(point, cell));
        let mut state = self.overwrite(point, before.clone(), (&children, swept.as_ref()));
        for child in children {
            let earlier = state.live.get(&child).filter(|_| before.direct.contains(&child));
            let is_told_apart = self.places.tree.creations[child.index()].len() == 1;
            let swept = swept.clone().filter(|_| is_told_apart);
            let handles = match (earlier, cell.clone().map(Place::Cell)) {
                (None, Some(cell)) => Handles::of_one(cell, swept),
                (Some(earlier), Some(cell)) if is_told_apart => earlier.with_another(cell, swept),
                _ => Handles::default(),
            };
            again.extend(handles.has_others().then_some((child, true)));
            let descendants = &self.places.tree.descendants[child.index()];
            for one in descendants {
                state.live.entry(*one).or_default();
            }
            state.ever.extend(descendants);
            state.ever.insert(child);
            state.direct.insert(child);
            state.live.insert(child, handles);
            state.run(&BTreeSet::from([child]));
            state.run(descendants);
        }
        if convention == Some(ResultConvention::ValueIsSuccess(0)) || convention == Some(ResultConvention::ZeroIsSuccess) {
            let new = state.live.keys().filter(|one| !before.live.contains_key(one)).map(|one| (*one, false));
            let new = new.chain(again).collect();
            let result = instruction.result.filter(|_| !is_wild);
            state.tried.extend(result.map(|result| (Place::Value(Value::Register(point.activation, result)), new)));
        }
        state
    }

    /// The cell that only this thread writes, if the operand is the address of one.
    fn cell(&mut self, point: Point, operand: Operand, thread: ThreadId) -> Option<Address> {
        let function = self.places.tree.activation(point.activation).function;
        let cell = self.places.address(point.activation, operand)?;
        let locations = self.writers.reached(&self.places, function, operand);
        let is_private = self.writers.is_private(&self.places, &cell, &locations, thread);
        self.locations.entry(cell.clone()).or_default().extend(locations.iter().copied());
        let all = self.locations.get_mut(&cell).expect("was just entered");
        all.sort_unstable();
        all.dedup();
        is_private.then_some(cell)
    }

    fn load(&mut self, point: Point, result: Option<RegisterId>, address: Operand, mut state: State) -> State {
        let Some(result) = result else { return state };
        let activation = self.places.tree.activation(point.activation);
        let (thread, function) = (activation.thread, activation.function);
        let place = Place::Value(Value::Register(point.activation, result));
        state.live.values_mut().for_each(|handles| _ = handles.places_mut().remove(&place));
        state.known.values_mut().for_each(|places| _ = places.remove(&place));
        if !is_handle_type(self.places.input, self.places.input.function(function).registers[result].ty) {
            return state;
        }
        let Some(cell) = self.places.address(point.activation, address) else { return state };
        let running: BTreeSet<ThreadId> = state.live.keys().copied().collect();
        let source = Place::Cell(cell.clone());
        for (one, handles) in &mut state.live {
            // What a thread that has ended created is in its cell by now.
            let creations = &self.places.tree.creations[one.index()];
            let is_settled = self.writers.settled[one.index()].as_ref() == Some(&cell)
                && creations.iter().all(|creation| creation.creator != thread && !running.contains(&creation.creator));
            if handles.newest_is_at(&source) || is_settled {
                handles.places_mut().insert(place.clone());
            }
        }
        for places in state.known.values_mut().filter(|places| places.contains(&source)) {
            places.insert(place.clone());
        }
        state
    }

    fn store(&mut self, point: Point, address: Operand, value: Operand, state: State) -> State {
        let activation = self.places.tree.activation(point.activation);
        let (thread, function) = (activation.thread, self.places.input.function(activation.function));
        if !is_handle_type(self.places.input, self.places.input.program.type_of(function, value)) {
            return self.overwrite(point, state, (&[], None));
        }
        let Some(value) = self.places.value(point.activation, value) else { return self.overwrite(point, state, (&[], None)) };
        let Some(cell) = self.cell(point, address, thread) else { return self.overwrite(point, state, (&[], None)) };
        let source = Place::Value(value);
        let is_meant = |(one, handles): (&ThreadId, &Handles)| {
            (self.places.tree.creations[one.index()].len() == 1 && handles.newest_is_at(&source)).then_some(*one)
        };
        let stored: Vec<ThreadId> = state.live.iter().filter_map(is_meant).collect();
        let swept = self.swept(point, &cell);
        let mut state = self.overwrite(point, state, (&stored, swept.as_ref()));
        for (one, handles) in state.live.iter_mut().filter(|(_, handles)| handles.newest_is_at(&source)) {
            handles.store(Place::Cell(cell.clone()), swept.clone().filter(|_| stored.contains(one)));
        }
        for places in state.known.values_mut().filter(|places| places.contains(&source)) {
            places.insert(Place::Cell(cell.clone()));
        }
        state
    }

    /// The cells that the handles go to which an instruction stores, each time in another one.
    fn swept(&mut self, point: Point, cell: &Address) -> Option<Sweep> {
        let swept = sweep(&self.places, cell, point, true)?;
        self.sweep_locations.insert(swept.clone(), self.locations[cell].clone());
        self.sweep_points.entry(swept.clone()).or_default().insert(point);
        Some(swept)
    }

    /// Cells that the instruction may write no longer hold what they held. A loop that stores in another cell each time, the handles of these threads, keeps the
    /// earlier ones.
    fn overwrite(&mut self, point: Point, mut state: State, (threads, own): (&[ThreadId], Option<&Sweep>)) -> State {
        let writes: &[Write] = self.writers.writes_at(point);
        if writes.is_empty() {
            return state;
        }
        let nowhere = Vec::new();
        let is_hit = |place: &Place| match place {
            Place::Value(_) | Place::Returned(_) => false,
            Place::Cell(cell) => {
                let locations = self.locations.get(cell).unwrap_or(&nowhere);
                writes
                    .iter()
                    .any(|write| locations.is_empty() || self.writers.may_write_now(&self.places, write, cell, locations))
            }
        };
        let handle_size = self.writers.handle_size();
        let is_sweep_hit = |sweep: &Sweep| {
            let locations = self.sweep_locations.get(sweep).unwrap_or(&nowhere);
            writes.iter().any(|write| match (&write.address, write.size) {
                (Some(address), Some(size)) if sweep.is_apart_from(address, size, handle_size) => false,
                _ => locations.is_empty() || self.writers.may_meet(&self.places, write, locations),
            })
        };
        for (thread, handles) in &mut state.live {
            handles.forget_places(is_hit);
            let own = own.filter(|_| threads.contains(thread));
            handles.forget_sweeps(|sweep| own != Some(sweep) && is_sweep_hit(sweep));
        }
        state.known.values_mut().for_each(|places| places.retain(|place| !is_hit(place)));
        state
    }
}

/// The result of a call is what the callee returned.
pub(super) fn receive(mut state: State, callee: ActivationId, caller: ActivationId, result: Option<RegisterId>) -> State {
    let returned = Place::Returned(callee);
    let tried = state.tried.remove(&returned);
    if let Some(result) = result.map(|result| Place::Value(Value::Register(caller, result))) {
        state.tried.remove(&result);
        state.tried.extend(tried.map(|tried| (result, tried)));
    }
    let places = state.live.values_mut().map(Handles::places_mut).chain(state.known.values_mut());
    for places in places {
        let result = result.map(|result| Place::Value(Value::Register(caller, result)));
        result.iter().for_each(|result| _ = places.remove(result));
        if places.remove(&returned) {
            places.extend(result);
        }
    }
    state
}

/// What holds on both paths, the one that is new and those before.
pub(super) fn merge(known: &mut Option<State>, new: Option<State>) {
    match (known.as_mut(), new) {
        (Some(known), Some(new)) => known.meet(&new),
        (None, new) => *known = new,
        (Some(_), None) => {}
    }
}
