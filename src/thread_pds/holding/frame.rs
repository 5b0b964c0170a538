//! What the calls of one function do to an attributes object: make it new, give it a kind, initialise a mutex from it.
//!
//! # Definition   A *point* of a function is a call in it. It sets surely if it is the call that sets, or calls a function that passes such a call on every way to
//!                its end, and passes every call that may make the object new before. It renews if the object may be new after it.
//! # Theorem      If all changes of the object, and the initialisation, happen inside points of one activation of the function, none of the changes in a thread or
//!                routine that a point only starts, and one point that sets is on every way to all that initialise, and every point that renews is on every
//!                way to it, then the mutex gets the kind that is set (the argument of `attributes`, with points for calls). What is started and initialises
//!                later does so, too, if no point that renews is reached from where it is started.

use std::collections::BTreeSet;

use rustc_hash::FxHashSet;

use super::attributes::Change;
use super::kinds::Call;
use crate::facts::{CallKind, Facts, Location};
use crate::program::{BlockId, Function, FunctionId, Instruction, Operation, Program, SiteId, TerminatorKind};

/// Where an instruction stands in its function.
type Spot = (BlockId, usize);

/// The sets and the renewals that concern an object.
type Changes<'a, 'c, 'p> = (&'a [&'a Change<'c, 'p>], &'a [&'a Change<'c, 'p>]);

pub struct Frame<'f> {
    function: &'f Function,
    sets: Vec<Spot>,
    renews: Vec<Spot>,
    initialises: Vec<Spot>,
    /// Points that start something which initialises later.
    starts: Vec<Spot>,
    /// Points that make the object new, whatever they do afterwards.
    touches: Vec<Spot>,
}

impl<'f> Frame<'f> {
    /// A function that does everything itself.
    pub(super) fn alone(
        program: &'f Program,
        object: Location,
        (sets, renewals): Changes<'_, '_, '_>,
        call: &Call<'_>,
    ) -> Option<Frame<'f>> {
        let is_here = |change: &&&Change<'_, '_>| change.call.function == call.function;
        let spot = |change: &&Change<'_, '_>| (change.call.block, change.call.index);
        let renews: Vec<Spot> = renewals.iter().map(spot).collect();
        renewals.iter().all(|renewal| is_here(&renewal)).then(|| Frame {
            function: &program.functions[call.function],
            sets: sets.iter().filter(is_here).filter(|set| set.objects == [object]).map(spot).collect(),
            initialises: vec![(call.block, call.index)],
            starts: Vec::new(),
            touches: renews.clone(),
            renews,
        })
    }

    /// The calls of the function that an object belongs to; nothing when something happens elsewhere.
    pub(super) fn of(
        program: &'f Program,
        facts: &Facts<'_>,
        owner: FunctionId,
        object: Location,
        (sets, renewals): Changes<'_, '_, '_>,
        call: &Call<'_>,
    ) -> Option<Frame<'f>> {
        let function = &program.functions[owner];
        let mut frame = Frame { function, sets: vec![], renews: vec![], initialises: vec![], starts: vec![], touches: vec![] };
        let changes: Vec<&&Change<'_, '_>> = sets.iter().chain(renewals).collect();
        let mut seen: FxHashSet<FunctionId> = FxHashSet::from_iter([owner]);
        for (block, content) in function.blocks.iter_enumerated() {
            for (index, instruction) in content.instructions.iter().enumerate() {
                let Operation::Call { .. } = &instruction.operation else { continue };
                let spot = (block, index);
                let (inside, started) = extent(facts, owner, instruction.site);
                seen.extend(inside.iter().chain(&started));
                let is_own = |other: &Call<'_>| other.function == owner && (other.block, other.index) == spot;
                let is_in = |change: &Change<'_, '_>| is_own(change.call) || inside.contains(&change.call.function);
                if changes.iter().any(|change| started.contains(&change.call.function)) {
                    return None;
                }
                let renews = renewals.iter().any(|change| is_in(change));
                if renews {
                    frame.touches.push(spot);
                }
                let sets_itself = sets.iter().any(|set| is_own(set.call) && set.objects == [object]);
                let sets_surely = sets_itself && !renews
                    || sets_inside(program, facts, (owner, instruction), object, (sets, renewals), &inside);
                match (sets_surely, renews) {
                    (true, _) => frame.sets.push(spot),
                    (false, true) => frame.renews.push(spot),
                    (false, false) => {}
                }
                let initialises = is_own(call) || inside.contains(&call.function);
                if initialises && (renews || sets_surely) {
                    return None;
                }
                if initialises {
                    frame.initialises.push(spot);
                }
                if started.contains(&call.function) {
                    frame.starts.push(spot);
                }
            }
        }
        let others = elsewhere(facts, owner);
        let is_covered = |function: FunctionId| seen.contains(&function) && !others.contains(&function);
        let is_whole = changes.iter().all(|change| is_covered(change.call.function)) && is_covered(call.function);
        is_whole.then_some(frame)
    }

    /// Whether the object has the kind that is set whenever a mutex is initialised from it.
    pub fn is_settled(&self) -> bool {
        let before_all = |set: &Spot| {
            let mut uses = self.initialises.iter().chain(&self.starts).peekable();
            uses.peek().is_some() && uses.all(|place| self.is_on_every_way(*set, *place))
        };
        let after_all = |set: &Spot| self.renews.iter().all(|renewal| self.is_on_every_way(*renewal, *set));
        let stays = self.starts.iter().all(|start| !self.touches.iter().any(|renewal| self.may_follow(*start, *renewal)));
        stays && self.sets.iter().any(|set| before_all(set) && after_all(set))
    }

    /// Whether every way from the entry of the function to one place passes another.
    fn is_on_every_way(&self, place: Spot, to: Spot) -> bool {
        is_on_every_way(self.function, place, to)
    }

    /// Whether one place may be executed after another.
    fn may_follow(&self, from: Spot, to: Spot) -> bool {
        if from.0 == to.0 && from.1 < to.1 {
            return true;
        }
        let mut open: Vec<BlockId> = self.function.blocks[from.0].terminator.kind.successors().into_iter().collect();
        let mut seen: FxHashSet<BlockId> = open.iter().copied().collect();
        while let Some(block) = open.pop() {
            if block == to.0 {
                return true;
            }
            open.extend(self.function.blocks[block].terminator.kind.successors().into_iter().filter(|next| seen.insert(*next)));
        }
        false
    }
}

/// The functions that run before a call returns, and those that it starts, to run at another time.
fn extent(facts: &Facts<'_>, caller: FunctionId, site: SiteId) -> (BTreeSet<FunctionId>, BTreeSet<FunctionId>) {
    let (mut inside, mut started) = (BTreeSet::new(), BTreeSet::new());
    let edges = facts.call_graph.calls_in(caller).iter().filter(|edge| edge.site == Some(site));
    let mut open: Vec<(FunctionId, bool)> = edges.map(|edge| (edge.callee, runs_at_once(edge.kind))).collect();
    while let Some((function, is_inside)) = open.pop() {
        let is_new = if is_inside { inside.insert(function) } else { started.insert(function) };
        if is_new {
            let next = facts.call_graph.calls_in(function).iter();
            open.extend(next.map(|edge| (edge.callee, is_inside && runs_at_once(edge.kind))));
        }
    }
    (inside, started)
}

fn runs_at_once(kind: CallKind) -> bool {
    kind.is_nested()
}

/// What runs without being called by the owner: constructors, routines of the system, and all that they call.
fn elsewhere(facts: &Facts<'_>, owner: FunctionId) -> BTreeSet<FunctionId> {
    let without_cause = |function: &&FunctionId| {
        let has_other_cause = |function: FunctionId| facts.call_graph.calls_of(function).iter().any(|edge| edge.caller.is_none());
        **function != owner && has_other_cause(**function)
    };
    let mut found: BTreeSet<FunctionId> = facts.call_graph.reachable().iter().filter(without_cause).copied().collect();
    let mut open: Vec<FunctionId> = found.iter().copied().filter(|function| !leads_to(facts, *function, owner)).collect();
    found.retain(|function| open.contains(function));
    while let Some(function) = open.pop() {
        let next = facts.call_graph.calls_in(function).iter().map(|edge| edge.callee);
        open.extend(next.filter(|callee| *callee != owner && found.insert(*callee)));
    }
    found
}

/// Whether a function calls another one, by whatever way.
fn leads_to(facts: &Facts<'_>, from: FunctionId, to: FunctionId) -> bool {
    let (mut seen, mut open) = (BTreeSet::from([from]), vec![from]);
    while let Some(function) = open.pop() {
        if function == to {
            return true;
        }
        open.extend(facts.call_graph.calls_in(function).iter().map(|edge| edge.callee).filter(|callee| seen.insert(*callee)));
    }
    false
}

/// Whether a point calls one function, which gives the object its kind on every way to its end, after all that may make it new there.
fn sets_inside(
    program: &Program,
    facts: &Facts<'_>,
    (owner, instruction): (FunctionId, &Instruction),
    object: Location,
    (sets, renewals): Changes<'_, '_, '_>,
    inside: &BTreeSet<FunctionId>,
) -> bool {
    let mut edges = facts.call_graph.calls_in(owner).iter().filter(|edge| edge.site == Some(instruction.site));
    let (Some(edge), None) = (edges.next(), edges.next()) else { return false };
    let Operation::Call { arguments, .. } = &instruction.operation else { return false };
    let helper = &program.functions[edge.callee];
    if edge.kind != CallKind::Call || !helper.is_defined() || facts.call_graph.is_recursive(edge.callee) {
        return false;
    }
    let spot = |change: &Change<'_, '_>| (change.call.block, change.call.index);
    // What is made new further inside is made new at an unknown time.
    let is_deeper = |change: &&&Change<'_, '_>| change.call.function != edge.callee && inside.contains(&change.call.function);
    let own: Vec<&&Change<'_, '_>> = renewals.iter().filter(|change| change.call.function == edge.callee).collect();
    if renewals.iter().any(|change| is_deeper(&change)) {
        return false;
    }
    let is_meant = |set: &Change<'_, '_>| {
        let position = helper.parameters.iter().position(|parameter| {
            set.operand == Some(crate::program::Operand::Register(parameter.register)) && parameter.by_value.is_none()
        });
        let given = position.and_then(|position| arguments.get(position));
        let given: Option<Vec<Location>> = given.map(|argument| facts.points_to.pointees(owner, argument.value).collect());
        set.objects == [object] || given.is_some_and(|given| given == [object])
    };
    sets.iter().filter(|set| set.call.function == edge.callee && is_meant(set)).any(|set| {
        let is_passed = helper.blocks.iter_enumerated().all(|(block, content)| {
            let end = (block, content.instructions.len());
            !matches!(content.terminator.kind, TerminatorKind::Return(_)) || is_on_every_way(helper, spot(set), end)
        });
        is_passed && own.iter().all(|renewal| is_on_every_way(helper, spot(renewal), spot(set)))
    })
}

/// Whether every way from the entry of the function to one place passes another.
fn is_on_every_way(function: &Function, place: Spot, to: Spot) -> bool {
    if place.0 == to.0 {
        return place.1 < to.1;
    }
    let entry = function.entry();
    let mut seen: FxHashSet<BlockId> = FxHashSet::from_iter([place.0, entry]);
    let mut open: Vec<BlockId> = if entry == place.0 { Vec::new() } else { vec![entry] };
    while let Some(block) = open.pop() {
        if block == to.0 {
            return false;
        }
        open.extend(function.blocks[block].terminator.kind.successors().into_iter().filter(|next| seen.insert(*next)));
    }
    true
}
