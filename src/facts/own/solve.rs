//! The greatest solution: parameters, results, loads and cells are of the thread's own making until a call, a return or a write says otherwise.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;
use typed_index_collections::TiVec;

use super::super::accesses::{Accesses, WHOLE, library_model};
use super::super::call_graph::{CallEdge, CallGraph, CallKind};
use super::super::points_to::{AbstractObjectId, AbstractObjectKind, Location, Offset, PointeesId, PointsTo};
use super::super::values::InPart;
use super::foreign::Foreign;
use super::memory::{Cells, Load, Through, Uses, Write, Written};
use super::origins::{Body, Origin, callees};
use super::parts::Part;
use crate::deadline::{Deadline, OutOfTime};
use crate::models::{BoundModels, Effect};
use crate::program::{FunctionId, Instruction, Operand, Program, RegisterId, SiteId};

/// What a solution is about.
pub(super) struct Ground<'a> {
    pub program: &'a Program,
    pub models: &'a BoundModels<'a>,
    pub points_to: &'a PointsTo,
    /// Objects that somebody asks for: a thread makes them, or they are parted, and others may reach them.
    pub tracked: &'a FixedBitSet,
    /// Objects whose contents are known: those that threads make, whether others reach them or not, and parted ones.
    pub followed: &'a FixedBitSet,
    pub parts: &'a [Part],
    pub known: Known,
}

/// What was asked before.
#[derive(Default)]
pub(super) struct Known {
    sets: RefCell<FxHashMap<PointeesId, Rc<Foreign>>>,
    contents: RefCell<FxHashMap<AbstractObjectId, Rc<Foreign>>>,
    behind: RefCell<FxHashMap<PointeesId, Rc<Foreign>>>,
}

impl Ground<'_> {
    pub fn is_followed(&self, object: AbstractObjectId) -> bool {
        self.followed.contains(object.index())
    }

    pub fn is_body(&self, id: FunctionId) -> bool {
        self.points_to.is_reachable(id)
            && self.program.functions[id].is_defined()
            && library_model(self.program, self.models, id).is_none()
    }

    /// All that points-to has for an operand.
    pub fn held(&self, function: FunctionId, operand: Operand) -> Rc<Foreign> {
        self.points_to.set_of(function, operand).map(|set| self.all_in(set)).unwrap_or_default()
    }

    fn all_in(&self, set: PointeesId) -> Rc<Foreign> {
        if let Some(known) = self.known.sets.borrow().get(&set) {
            return known.clone();
        }
        let found = Rc::new(self.all_of(self.points_to.members(set)));
        self.known.sets.borrow_mut().insert(set, found.clone());
        found
    }

    /// All that may lie in an object.
    fn contents_of(&self, object: AbstractObjectId) -> Rc<Foreign> {
        if let Some(known) = self.known.contents.borrow().get(&object) {
            return known.clone();
        }
        let found = Rc::new(self.contents_at(Location { object, offset: Offset::Any }, WHOLE));
        self.known.contents.borrow_mut().insert(object, found.clone());
        found
    }

    /// All that may lie in what a set points to.
    fn contents_behind(&self, set: PointeesId) -> Rc<Foreign> {
        if let Some(known) = self.known.behind.borrow().get(&set) {
            return known.clone();
        }
        let mut found = Foreign::default();
        self.points_to.members(set).for_each(|place| _ = found.add(&self.contents_of(place.object)));
        let found = Rc::new(found);
        self.known.behind.borrow_mut().insert(set, found.clone());
        found
    }

    fn contents_at(&self, location: Location, size: u64) -> Foreign {
        let is_outside = self.points_to.object(location.object).kind == AbstractObjectKind::Unknown;
        let mut found = if is_outside { Foreign::ALL } else { Foreign::default() };
        for set in self.points_to.sets_in(location, size) {
            found.add(&self.all_in(set));
        }
        found
    }

    fn all_of(&self, locations: impl Iterator<Item = Location>) -> Foreign {
        let mut found = Foreign::default();
        for location in locations {
            match self.points_to.object(location.object).kind {
                AbstractObjectKind::Unknown | AbstractObjectKind::Residue => found.are_all = true,
                _ if self.tracked.contains(location.object.index()) => found.insert(location.object),
                // Nobody asks for it.
                _ => {}
            }
        }
        found
    }
}

/// What is known of every function.
pub(super) struct Solution {
    bodies: TiVec<FunctionId, Option<Body>>,
    parameters: TiVec<FunctionId, Vec<Foreign>>,
    results: TiVec<FunctionId, Foreign>,
    loaded: FxHashMap<(FunctionId, RegisterId), Foreign>,
}

impl Solution {
    pub fn of(
        ground: &Ground<'_>,
        (calls, accesses): (&CallGraph, &Accesses),
        deadline: Deadline,
    ) -> Result<Solution, OutOfTime> {
        let program = ground.program;
        let parameters = program.functions.iter_enumerated().map(|(id, function)| {
            let known = if is_only_called(ground, calls, id) { Foreign::default() } else { Foreign::ALL };
            let mut parameters = vec![known; function.parameters.len()];
            if let (Some(part), Some(first)) = (ground.parts.iter().find(|part| part.entry == id), parameters.first_mut()) {
                // Whatever else it may point to is not its own.
                *first = (*ground.held(id, Operand::Register(function.parameters[0].register))).clone();
                first.objects.set(part.object.index(), false);
            }
            parameters
        });
        let parameters = parameters.collect();
        let body =
            |id: FunctionId| ground.is_body(id).then(|| Body::of(program, ground.models, ground.points_to, ground.parts, id));
        let mut solution = Solution {
            bodies: program.functions.keys().map(body).collect(),
            parameters,
            results: program.functions.iter().map(|_| Foreign::default()).collect(),
            loaded: FxHashMap::default(),
        };
        deadline.check()?;
        let (cells, uses) = Cells::of(ground, accesses, calls);
        solution.solve(ground, calls, (cells, &uses), deadline)?;
        Ok(solution)
    }

    fn solve(
        &mut self,
        ground: &Ground<'_>,
        calls: &CallGraph,
        (mut cells, uses): (Cells, &TiVec<FunctionId, Uses>),
        deadline: Deadline,
    ) -> Result<(), OutOfTime> {
        // Callers come first: they say what parameters are.
        let mut queue: VecDeque<FunctionId> = calls.components().iter().rev().flatten().copied().collect();
        let mut is_queued: TiVec<FunctionId, bool> = self.bodies.iter().map(|_| false).collect();
        queue.iter().for_each(|id| is_queued[*id] = true);
        while let Some(id) = queue.pop_front() {
            deadline.check()?;
            is_queued[id] = false;
            let Some(body) = self.bodies[id].take() else { continue };
            let mut again: Vec<FunctionId> = Vec::new();
            self.load_all(ground, &body, id, &uses[id].loads, &cells);
            for write in &uses[id].writes {
                self.write(ground, &body, id, write, &mut cells, &mut again);
            }
            for call in &body.calls {
                let mut given: Vec<Foreign> =
                    call.arguments.iter().map(|one| self.foreign_in(&body, ground, id, *one, Some(1))).collect();
                if call.is_of_library {
                    // It says nothing of how far into a part it counts.
                    let parts = ground.parts.iter().map(|part| part.object);
                    parts.for_each(|object| given.iter_mut().for_each(|given| given.insert(object)));
                }
                for callee in &call.callees {
                    for (number, parameter) in self.parameters[*callee].iter_mut().enumerate() {
                        if parameter.add(given.get(number).unwrap_or(&Foreign::ALL)) {
                            again.push(*callee);
                        }
                    }
                }
            }
            for value in &body.returned {
                let returned = self.foreign_in(&body, ground, id, *value, Some(1));
                if self.results[id].add(&returned) {
                    again.extend(calls.calls_of(id).iter().filter_map(|edge| edge.caller));
                }
            }
            self.bodies[id] = Some(body);
            for one in again {
                if !std::mem::replace(&mut is_queued[one], true) {
                    queue.push_back(one);
                }
            }
        }
        Ok(())
    }

    /// What the loads of a function find, until nothing changes: an address that was loaded may be what the next one is counted from.
    fn load_all(&mut self, ground: &Ground<'_>, body: &Body, id: FunctionId, loads: &[Load], cells: &Cells) {
        let mut has_changed = true;
        while has_changed {
            has_changed = false;
            for load in loads {
                let held = ground.held(id, Operand::Register(load.result));
                let found = self.load(ground, body, id, load, cells).map_or((*held).clone(), |found| found.among(&held));
                has_changed |= self.loaded.entry((id, load.result)).or_default().add(&found);
            }
        }
    }

    /// `None`: all that points-to says.
    fn load(&self, ground: &Ground<'_>, body: &Body, id: FunctionId, load: &Load, cells: &Cells) -> Option<Foreign> {
        let from = load.from.as_ref()?;
        let through = self.foreign_in(body, ground, id, load.address, Some(load.size));
        let mut found = Foreign::default();
        for (object, touched) in from {
            if through.contains(*object) {
                return None;
            }
            touched.iter().for_each(|cell| _ = found.add(&cells.all[*cell as usize].foreign));
        }
        // Whatever it is computed from.
        (!ground.held(id, Operand::Register(load.result)).are_all).then_some(found)
    }

    fn write(
        &self,
        ground: &Ground<'_>,
        body: &Body,
        id: FunctionId,
        write: &Write,
        cells: &mut Cells,
        again: &mut Vec<FunctionId>,
    ) {
        let through = match write.through {
            Through::Address(address, size) => self.foreign_in(body, ground, id, address, size),
            Through::Own => Foreign::default(),
            Through::Unknown => Foreign::ALL,
        };
        let own = match write.written {
            Written::Value(value) => self.foreign_in(body, ground, id, value, Some(1)),
            Written::Copy(source) => self.copied(ground, body, id, source, cells),
            Written::Anything => Foreign::default(),
        };
        let mut all: Option<Foreign> = None;
        for (object, touched) in &write.to {
            let written = if through.contains(*object) {
                &*all.get_or_insert_with(|| match write.written {
                    Written::Value(value) => (*ground.held(id, value)).clone(),
                    Written::Copy(source) => contents(ground, id, source, &|_| true),
                    Written::Anything => Foreign::default(),
                })
            } else {
                &own
            };
            for cell in touched {
                let cell = &mut cells.all[*cell as usize];
                let anything;
                let written = match write.written {
                    Written::Anything => {
                        let (location, size, _) = cell.place;
                        anything = ground.contents_at(location, size);
                        &anything
                    }
                    _ => written,
                };
                if cell.foreign.add(written) {
                    again.extend(&cell.readers);
                }
            }
        }
    }

    /// What a copy of memory brings along that the running thread has not made.
    fn copied(&self, ground: &Ground<'_>, body: &Body, id: FunctionId, source: Operand, cells: &Cells) -> Foreign {
        let through = self.foreign_in(body, ground, id, source, None);
        let is_foreign = |object: AbstractObjectId| through.contains(object) || !ground.is_followed(object);
        let mut found = contents(ground, id, source, &is_foreign);
        let own = ground.points_to.pointees(id, source).take_while(|_| !ground.points_to.is_of_horde(id, source));
        for location in own.filter(|location| !is_foreign(location.object)) {
            for cell in cells.of_object(location.object) {
                found.add(&cells.all[*cell as usize].foreign);
            }
        }
        found
    }

    /// The objects that an operand may point to by an address from elsewhere, or, of parted ones, outside of the thread's part when it is used for so many bytes.
    pub fn foreign(&self, ground: &Ground<'_>, function: FunctionId, operand: Operand, size: Option<u64>) -> Foreign {
        match &self.bodies[function] {
            Some(body) => self.foreign_in(body, ground, function, operand, size),
            None => Foreign::ALL,
        }
    }

    /// Where in the thread's part of an object so many bytes lie that are accessed by an operand.
    pub fn in_part(
        &self,
        ground: &Ground<'_>,
        (function, operand): (FunctionId, Operand),
        size: u64,
        part: &Part,
    ) -> Option<InPart> {
        let body = self.bodies[function].as_ref()?;
        if self.foreign_in(body, ground, function, operand, Some(size)).contains(part.object) {
            return None;
        }
        let mut found: Option<InPart> = None;
        for origin in body.origins(operand) {
            let register = match origin {
                Origin::Made | Origin::Elsewhere(_) => continue,
                Origin::Parameter(number) => ground.program.functions[function].parameters[number].register,
                Origin::Result(_, register) | Origin::Loaded(register) => register,
            };
            for place in ground.points_to.pointees(function, Operand::Register(register)) {
                if place.object == part.object {
                    let here = part.in_part(place.offset, body.reach(operand), Some(size))?;
                    if *found.get_or_insert(here) != here {
                        return None;
                    }
                }
            }
        }
        found
    }

    fn foreign_in(&self, body: &Body, ground: &Ground<'_>, function: FunctionId, operand: Operand, size: Option<u64>) -> Foreign {
        let mut found = Foreign::default();
        for origin in body.origins(operand) {
            let mut of_origin = Foreign::default();
            let register = match origin {
                Origin::Made => {
                    // The whole of a parted object, if it is one that was made here.
                    let held = ground.held(function, operand);
                    ground.parts.iter().filter(|part| held.contains(part.object)).for_each(|part| found.insert(part.object));
                    continue;
                }
                Origin::Parameter(number) => {
                    of_origin.add(&self.parameters[function][number]);
                    ground.program.functions[function].parameters[number].register
                }
                Origin::Result(site, register) => {
                    for callee in body.by_site.get(&site).into_iter().flatten() {
                        of_origin.add(&self.results[*callee]);
                    }
                    register
                }
                Origin::Loaded(register) => {
                    if let Some(loaded) = self.loaded.get(&(function, register)) {
                        of_origin.add(loaded);
                    }
                    register
                }
                Origin::Elsewhere(operand) => {
                    found.add(&ground.held(function, operand));
                    continue;
                }
            };
            let held = ground.held(function, Operand::Register(register));
            // Others pass and return here what this call does not.
            found.add(&of_origin.among(&held));
            let may_be = |part: &&Part| !ground.tracked.contains(part.object.index()) || held.contains(part.object);
            for part in ground.parts.iter().filter(may_be) {
                let mut places = ground.points_to.pointees(function, Operand::Register(register));
                if places.any(|place| place.object == part.object && !part.holds(place.offset, body.reach(operand), size)) {
                    found.insert(part.object);
                }
            }
        }
        found
    }
}

/// Whether a function begins to run only by call instructions, and by what library functions do before they return.
fn is_only_called(ground: &Ground<'_>, calls: &CallGraph, function: FunctionId) -> bool {
    let edges = calls.calls_of(function);
    let is_during = |caller: FunctionId, site: SiteId| {
        let known = |callee: FunctionId| library_model(ground.program, ground.models, callee);
        let called = calls_at(ground.program, caller, site).flat_map(|call| callees(ground.points_to, call));
        let mut models = called.filter_map(known).peekable();
        models.peek().is_some() && models.all(|model| !model.effects.contains(&Effect::Dispatch))
    };
    let is_call = |edge: &CallEdge| match (edge.kind, edge.caller, edge.site) {
        (CallKind::Call, Some(_), _) => true,
        (CallKind::Callback, Some(caller), Some(site)) => is_during(caller, site),
        _ => false,
    };
    !edges.is_empty() && edges.iter().all(is_call)
}

/// The instructions of a site: a pass may have made copies.
fn calls_at(program: &Program, function: FunctionId, site: SiteId) -> impl Iterator<Item = &Instruction> {
    let all = program.functions[function].blocks.iter().flat_map(|block| &block.instructions);
    all.filter(move |instruction| instruction.site == site)
}

/// All that may lie in those of the objects behind a pointer.
fn contents(ground: &Ground<'_>, id: FunctionId, pointer: Operand, is_meant: &dyn Fn(AbstractObjectId) -> bool) -> Foreign {
    if let Some(set) = ground.points_to.set_of(id, pointer).filter(|_| ground.points_to.is_of_horde(id, pointer)) {
        // None of them is followed: all are meant.
        return (*ground.contents_behind(set)).clone();
    }
    let mut found = Foreign::default();
    for place in ground.points_to.pointees(id, pointer).filter(|place| is_meant(place.object)) {
        found.add(&ground.contents_of(place.object));
    }
    found
}
