//! The walk of an activation: knowledge flows through its blocks until nothing changes, and into the activations that it calls.
//!
//! Only the order of edges and loops is decided here; `walk` says what an instruction does.

use std::collections::{BTreeMap, BTreeSet};

use typed_index_collections::TiVec;

use super::super::loops::{LoopId, constant};
use super::kept::Handles;
use super::state::{Place, State};
use super::sweep::is_tested_always;
use super::tree::Point;
use super::types::{ActivationId, PhaseId};
use super::walk::{Record, Walk, merge};
use crate::program::{BlockId, IntegerPredicate, Operand, Operation, Predicate, RegisterId, TerminatorKind};

/// Visits of a block, on average, after which an activation is given up.
const VISITS: usize = 60;

pub(super) type Outs = TiVec<BlockId, Option<State>>;

impl Walk<'_> {
    /// What is known when the activation returns; `None` if it does not.
    pub fn walk(&mut self, id: ActivationId, mut entry: State) -> Option<State> {
        let tree = self.places.tree;
        entry.forget_registers(&|activation, _| tree.is_within(activation, id));
        entry.forget_loops(&|activation, _| tree.is_within(activation, id));
        if let Some(record) = &self.records[id.index()]
            && record.round == self.round
            && record.entry == entry
        {
            return record.exit.clone();
        }
        let function = self.places.input.function(tree.activation(id).function);
        let relevant = self.places.relevant;
        let body = &relevant.bodies[&tree.activation(id).function];
        let order = reverse_postorder(function);
        let mut outs: Outs = function.blocks.iter().map(|_| None).collect();
        let nowhere = || function.blocks.iter().map(|_| None).collect();
        let mut firsts: BTreeMap<LoopId, Outs> = body.first_turns.iter().map(|edge| (edge.in_loop, nowhere())).collect();
        let mut phases: BTreeMap<BlockId, Vec<(usize, PhaseId)>> = BTreeMap::new();
        // Loops whose body turned out not to come round.
        let mut released: BTreeSet<LoopId> = BTreeSet::new();
        let mut open: BTreeSet<(usize, BlockId)> = BTreeSet::from([(order[function.entry()], function.entry())]);
        let mut visits = 0;
        loop {
            while let Some((_, block)) = open.pop_first() {
                visits += 1;
                if visits > VISITS * function.blocks.len() + 1000 {
                    self.has_given_up = true;
                    return None;
                }
                let is_first_new = self.first_turn(id, block, (&outs, &released), &mut firsts);
                let mut state = (block == function.entry()).then(|| entry.clone());
                for from in &function.blocks[block].predecessors {
                    let mut first_turns = body.first_turns.iter();
                    let first_turn = first_turns.find(|edge| (edge.from, edge.to) == (*from, block));
                    merge(
                        &mut state,
                        match first_turn {
                            Some(edge) => self.flow(id, *from, block, &firsts[&edge.in_loop], None),
                            None => self.flow(id, *from, block, &outs, Some(&released)),
                        },
                    );
                }
                let Some(state) = state else { continue };
                let after = self.block(id, block, state, &mut phases);
                if is_first_new || after != outs[block] {
                    outs[block] = after;
                    let mut next: BTreeSet<BlockId> = function.blocks[block].terminator.kind.successors().into_iter().collect();
                    // What has been joined in the last iteration is seen at the header's exits.
                    for (_, one) in body.loops.iter().filter(|(_, one)| one.latches.contains(&block)) {
                        next.extend(one.exits.iter().filter(|(from, _)| *from == one.header).map(|(_, to)| *to));
                    }
                    open.extend(next.into_iter().map(|next| (order[next], next)));
                }
            }
            let stuck = body.loops.iter().find(|(in_loop, one)| {
                outs[one.header].is_some()
                    && one.latches.iter().all(|latch| outs[*latch].is_none())
                    && !released.contains(in_loop)
            });
            let Some((in_loop, one)) = stuck else { break };
            released.insert(in_loop);
            open.extend(one.exits.iter().map(|(_, to)| (order[*to], *to)));
        }
        let mut exit = None;
        for (block, one) in function.blocks.iter_enumerated() {
            if let TerminatorKind::Return(value) = &one.terminator.kind {
                merge(&mut exit, outs[block].clone().map(|state| self.returning(id, *value, state)));
            }
        }
        let by_result = self.by_result(id, &outs, &released);
        self.records[id.index()] = Some(Record { round: self.round, entry, exit: exit.clone(), by_result, phases });
        exit
    }

    /// The block in the first turn of the loops that somebody asks for; done before all turns, so that what is kept of calls is of those. Whether anything is new.
    fn first_turn(
        &mut self,
        id: ActivationId,
        block: BlockId,
        (outs, released): (&Outs, &BTreeSet<LoopId>),
        firsts: &mut BTreeMap<LoopId, Outs>,
    ) -> bool {
        let function = self.places.tree.activation(id).function;
        let relevant = self.places.relevant;
        let mut is_new = false;
        for (in_loop, firsts) in firsts {
            let body = &relevant.bodies[&function];
            let one = body.loops.get(*in_loop);
            if !body.first_turns.iter().any(|edge| edge.in_loop == *in_loop && edge.behind.contains(&block)) {
                continue;
            }
            let mut state = None;
            for from in &self.places.input.function(function).blocks[block].predecessors {
                match (block == one.header, one.blocks.contains(from)) {
                    (true, true) => {}
                    (true, false) => merge(&mut state, self.flow(id, *from, block, outs, Some(released))),
                    (false, _) => merge(&mut state, self.flow(id, *from, block, firsts, None)),
                }
            }
            let Some(state) = state else { continue };
            let after = self.block(id, block, state, &mut BTreeMap::new());
            is_new |= after != firsts[block];
            firsts[block] = after;
        }
        is_new
    }

    fn block(
        &mut self,
        id: ActivationId,
        block: BlockId,
        state: State,
        phases: &mut BTreeMap<BlockId, Vec<(usize, PhaseId)>>,
    ) -> Option<State> {
        let relevant = self.places.relevant;
        let steps = &relevant.bodies[&self.places.tree.activation(id).function].steps[block];
        let mut changes = vec![(0, self.phases.of_state(&state))];
        let mut current = Some(state);
        for &index in steps {
            let Some(state) = current else { break };
            current = self.step(Point { activation: id, block, index }, state);
            if let Some(state) = &current {
                let phase = self.phases.of_state(state);
                if changes.last().is_none_or(|(_, last)| *last != phase) {
                    changes.push((index + 1, phase));
                }
            }
        }
        phases.insert(block, changes);
        current
    }

    pub fn returning(&self, id: ActivationId, value: Option<Operand>, mut state: State) -> State {
        let value = value.and_then(|value| self.places.value(id, value)).map(Place::Value);
        state.tried.remove(&Place::Returned(id));
        let tried = value.as_ref().and_then(|value| state.tried.get(value).cloned());
        state.tried.extend(tried.map(|tried| (Place::Returned(id), tried)));
        let places = state.live.values_mut().map(Handles::places_mut).chain(state.known.values_mut());
        for places in places {
            if value.as_ref().is_some_and(|value| places.contains(value)) {
                places.insert(Place::Returned(id));
            } else {
                places.remove(&Place::Returned(id));
            }
        }
        state
    }

    /// What is known on an edge. Without `released`, in the first turn of a loop, nothing is concluded from the end of a loop, nor from what is kept of calls: that is
    /// of all turns.
    pub fn flow(
        &self,
        id: ActivationId,
        from: BlockId,
        to: BlockId,
        outs: &Outs,
        released: Option<&BTreeSet<LoopId>>,
    ) -> Option<State> {
        let after = outs[from].as_ref()?;
        let behind_result = released.and_then(|_| self.behind_result(id, from, to));
        let mut state = behind_result.unwrap_or_else(|| Some(after.clone()))?;
        let body = &self.places.relevant.bodies[&self.places.tree.activation(id).function];
        match self.told(id, from, to) {
            Some((operand, true)) if self.places.is_never_null(id, from, operand) => return None,
            // What is 0 is no handle: there is nobody to be joined.
            Some((handle, true)) if !body.is_wild => {
                let at = Point { activation: id, block: from, index: 0 };
                if let Some(swept) = self.places.value(id, handle).and_then(|handle| self.swept_by(at, handle)) {
                    state.done.entry(swept).or_insert(false);
                }
            }
            Some((result, false)) if !body.is_wild => {
                self.places.value(id, result).into_iter().for_each(|result| state.failed(&Place::Value(result)));
            }
            // The edge says nothing of handles, or of a body in which registers are not followed.
            _ => {}
        }
        for in_loop in body.loops.around(from) {
            let one = body.loops.get(in_loop);
            if one.blocks.contains(&to) {
                break;
            }
            let exit = one.counted_exits.iter().find(|exit| (exit.from, exit.to) == (from, to));
            if let Some(exit) = exit.filter(|exit| is_tested_always(&self.places, id, in_loop, exit))
                && let Some(released) = released
            {
                state = self.leave(id, (in_loop, exit), state, outs, released)?;
            }
        }
        for (in_loop, one) in body.loops.iter().filter(|(_, one)| one.header == to) {
            let is_inside = |register: RegisterId| {
                body.definitions
                    .get(register)
                    .and_then(|definition| definition.block())
                    .is_some_and(|block| one.blocks.contains(&block))
            };
            state.forget_registers(&|activation, register| activation == id && is_inside(register));
            if one.blocks.contains(&from) {
                state.done.retain(|swept, _| (swept.activation, swept.in_loop) != (id, in_loop));
            } else {
                state.forget_loops(&|activation, old| (activation, old) == (id, in_loop));
            }
        }
        Some(state)
    }

    /// What a branch on a comparison with 0 says on one of its ways: of which operand, and whether it is 0 there.
    fn told(&self, id: ActivationId, from: BlockId, to: BlockId) -> Option<(Operand, bool)> {
        use IntegerPredicate::*;
        let function = self.places.tree.activation(id).function;
        let (code, body) = (self.places.input.function(function), &self.places.relevant.bodies[&function]);
        let TerminatorKind::Branch { condition: Operand::Register(condition), when_true, when_false } =
            code.blocks[from].terminator.kind
        else {
            return None;
        };
        let Operation::Compare { predicate: Predicate::Integer(predicate), left, right } =
            body.definitions.operation(code, condition)?
        else {
            return None;
        };
        let is_zero = |operand: Operand| constant(self.places.input.program, operand) == Some(0);
        let operand = if is_zero(*right) { *left } else { Some(*right).filter(|_| is_zero(*left))? };
        if when_true == when_false {
            return None;
        }
        match predicate {
            NotEqual => Some((operand, to == when_false)),
            Equal => Some((operand, to == when_true)),
            // Which side is which does not matter: what is less or greater than 0 is not 0.
            SignedLess | SignedGreater | UnsignedLess | UnsignedGreater => (to == when_true).then_some((operand, false)),
            SignedLessEqual | SignedGreaterEqual | UnsignedLessEqual | UnsignedGreaterEqual => {
                (to == when_false).then_some((operand, false))
            }
        }
    }
}

/// The position of each block in an order that visits blocks before their successors, loops aside.
fn reverse_postorder(function: &crate::program::Function) -> TiVec<BlockId, usize> {
    let mut order: TiVec<BlockId, usize> = function.blocks.iter().map(|_| usize::MAX).collect();
    let mut seen = BTreeSet::from([function.entry()]);
    let mut stack = vec![(function.entry(), function.blocks[function.entry()].terminator.kind.successors())];
    let mut next = function.blocks.len();
    while let Some((block, successors)) = stack.last_mut() {
        match successors.pop() {
            Some(successor) if seen.insert(successor) => {
                stack.push((successor, function.blocks[successor].terminator.kind.successors()))
            }
            Some(_) => {}
            None => {
                next -= 1;
                order[*block] = next;
                stack.pop();
            }
        }
    }
    order
}
