//! What a call's result says of how it ended: `if (start() != 0) return;`.
//!
//! # Definition   A way through a function ends with a number if it returns a constant, or comes by an edge on which the returned value is one.
//! # Theorem      Behind a branch that compares the result of a call with a constant, right after the call, the call has ended with a number for which the branch
//!                goes that way, or on a way that has none. So what is known there is what holds on all of these.

use std::collections::{BTreeMap, BTreeSet};

use super::super::loops::{LoopId, constant};
use super::flow::Outs;
use super::input::Called;
use super::state::State;
use super::types::ActivationId;
use super::walk::{Walk, merge, receive};
use crate::program::{
    BlockId, FunctionId, Instruction, IntegerPredicate, Operand, Operation, Predicate, RegisterId, Scalar, TerminatorKind, Type,
};

/// What is known when an activation returns, by the number that it returns; `None`: something else than a constant.
pub(super) type ByResult = BTreeMap<Option<i64>, State>;

impl Walk<'_> {
    /// The ends of an activation, told apart by what it returns.
    pub fn by_result(&self, id: ActivationId, outs: &Outs, released: &BTreeSet<LoopId>) -> ByResult {
        let function_id = self.places.tree.activation(id).function;
        let function = self.places.input.function(function_id);
        let steps = &self.places.relevant.bodies[&function_id].steps;
        let mut found: BTreeMap<Option<i64>, Option<State>> = BTreeMap::new();
        for (block, content) in function.blocks.iter_enumerated() {
            let TerminatorKind::Return(value) = content.terminator.kind else { continue };
            let chosen = content.phis.iter().find(|phi| value == Some(Operand::Register(phi.result)));
            let mut add = |result: Option<Operand>, state: Option<State>| {
                let number = result.and_then(|result| constant(self.places.input.program, result));
                merge(found.entry(number).or_default(), state.map(|state| self.returning(id, value, state)));
            };
            match chosen.filter(|_| steps[block].is_empty() && block != function.entry()) {
                Some(phi) => {
                    for (from, operand) in content.predecessors.iter().zip(&phi.operands) {
                        add(Some(*operand), self.flow(id, *from, block, outs, Some(released)));
                    }
                }
                None => add(value, outs[block].clone()),
            }
        }
        found.into_iter().filter_map(|(number, state)| Some((number, state?))).collect()
    }

    /// What is known on an edge behind a call whose result decides that it is taken; nothing when that is not so.
    pub fn behind_result(&self, id: ActivationId, from: BlockId, to: BlockId) -> Option<Option<State>> {
        let function_id = self.places.tree.activation(id).function;
        let content = &self.places.input.function(function_id).blocks[from];
        let last = *self.places.relevant.bodies[&function_id].steps[from].last()?;
        let call = &content.instructions[last];
        let (called, result) = (self.places.input.called(call), call.result?);
        let [Called::Body(callee)] = called[..] else { return None };
        let child = *self.places.tree.activation(id).children.get(&(from, last, callee))?;
        let TerminatorKind::Branch { condition: Operand::Register(condition), when_true, when_false } = content.terminator.kind
        else {
            return None;
        };
        let after = &content.instructions[last + 1..];
        let (predicate, number) = match after.iter().find(|instruction| instruction.result == Some(condition)) {
            Some(test) => self.tested(function_id, test, result)?,
            None if condition == result => (IntegerPredicate::NotEqual, 0),
            None => return None,
        };
        let record = self.records[child.index()].as_ref().filter(|_| !self.places.tree.activation(child).is_cut)?;
        if when_true == when_false {
            return None;
        }
        let goes_there =
            |returned: &Option<i64>| returned.is_none_or(|returned| holds(predicate, returned, number) == (to == when_true));
        let mut state = None;
        for (_, end) in record.by_result.iter().filter(|(returned, _)| goes_there(returned)) {
            merge(&mut state, Some(receive(end.clone(), child, id, Some(result))));
        }
        Some(state)
    }

    /// How a comparison tests a register, and against which number.
    fn tested(&self, function: FunctionId, test: &Instruction, register: RegisterId) -> Option<(IntegerPredicate, i64)> {
        let Operation::Compare { predicate: Predicate::Integer(predicate), left, right } = &test.operation else { return None };
        let is_number = matches!(
            self.places.input.function(function).registers[register].ty,
            Type::Scalar(Scalar::Integer(bits)) if bits <= 64
        );
        let number = constant(self.places.input.program, *right).filter(|_| *left == Operand::Register(register) && is_number)?;
        Some((*predicate, number))
    }
}

/// Whether a comparison holds of two numbers of one width, both extended by their signs: this keeps the order of unsigned numbers as well.
fn holds(predicate: IntegerPredicate, left: i64, right: i64) -> bool {
    match predicate {
        IntegerPredicate::Equal => left == right,
        IntegerPredicate::NotEqual => left != right,
        IntegerPredicate::SignedLess => left < right,
        IntegerPredicate::SignedLessEqual => left <= right,
        IntegerPredicate::SignedGreater => left > right,
        IntegerPredicate::SignedGreaterEqual => left >= right,
        IntegerPredicate::UnsignedLess => (left as u64) < right as u64,
        IntegerPredicate::UnsignedLessEqual => left as u64 <= right as u64,
        IntegerPredicate::UnsignedGreater => left as u64 > right as u64,
        IntegerPredicate::UnsignedGreaterEqual => left as u64 >= right as u64,
    }
}
