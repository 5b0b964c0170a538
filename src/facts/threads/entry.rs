//! Which functions a creation starts, on one path of calls.
//!
//! # Definition   A wrapper that creates threads passes on the function that its caller names. In an activation the caller is known: what it names, as far as
//!                parameters are passed on, is what is started.
//! # Theorem      A thread that the activation creates begins with one of these functions. Parameters never change (they are values), and the operand that
//!                the outermost known caller passes has its own points-to set, which holds in every run.

use super::super::call_graph::CallKind;
use super::super::loops::Definition;
use super::super::points_to::AbstractObjectKind;
use super::relevant::{Input, Relevant};
use super::tree::{Point, Tree};
use crate::program::{CastKind, FunctionId, Operand, Operation};

/// The functions, of all that the instruction may start, that it starts here. `entry`: which of its arguments names them.
pub(super) fn started(input: Input<'_>, relevant: &Relevant, tree: &Tree, point: Point, entry: usize) -> Vec<FunctionId> {
    let function = tree.activation(point.activation).function;
    let instruction = input.instruction(function, point.block, point.index);
    let all: Vec<FunctionId> = input.started(function, instruction, CallKind::Spawn).collect();
    if all.len() < 2 {
        return all;
    }
    let Some((caller, operand)) = named(input, relevant, tree, point, entry) else { return all };
    let mut meant = Vec::new();
    for location in input.points_to.pointees(caller, operand) {
        match input.points_to.object(location.object).kind {
            AbstractObjectKind::Function(named) => meant.push(named),
            _ => return all,
        }
    }
    let here: Vec<FunctionId> = all.iter().copied().filter(|one| meant.contains(one)).collect();
    // A call of what is no function is undefined; then nothing is concluded.
    if here.is_empty() { all } else { here }
}

/// The outermost operand that is passed on to an argument, and whose it is.
fn named(
    input: Input<'_>,
    relevant: &Relevant,
    tree: &Tree,
    mut point: Point,
    mut position: usize,
) -> Option<(FunctionId, Operand)> {
    loop {
        let here = tree.activation(point.activation);
        let body = relevant.bodies.get(&here.function)?;
        let mut operand = Input::argument(input.instruction(here.function, point.block, point.index), position)?;
        let parameter = loop {
            let Operand::Register(register) = operand else { break None };
            if let Some(Definition::Parameter(position)) = body.definitions.get(register) {
                break Some(position);
            }
            match body.definitions.operation(input.function(here.function), register) {
                Some(Operation::Cast { kind: CastKind::Bitcast, value } | Operation::Freeze { value }) => operand = *value,
                _ => break None,
            }
        };
        match (parameter, here.caller) {
            (Some(passed), Some((caller, CallKind::Call))) if !here.is_cut => (point, position) = (caller, passed),
            _ => return Some((here.function, operand)),
        }
    }
}
