//! Entries: which function does a new thread begin with, when the call that creates it is come to on this path?
//!
//! # Definition   The function that a creating call is given: a constant; what the caller on the path gives, where it is a parameter; else what points-to says.
//! # Theorem      A thread that is created on the path begins with one of these: a parameter has the value that the call on the path passed.
//! # Example      `start(worker)` and `start(listener)`, with `pthread_create(…, entry, …)` in `start(entry)`: each call starts one of them.
//! # Deviations   An activation that stands for several paths has no caller: then all that points-to says count.

use std::collections::BTreeSet;

use super::super::call_graph::CallKind;
use super::super::points_to::AbstractObjectKind;
use super::input::Input;
use super::tree::{Point, Tree};
use crate::program::{Callee, Constant, FunctionId, Operand, Operation};

/// The functions that an operand of a point stands for on its path; `None`: any.
pub(super) fn on_path(tree: &Tree, input: Input<'_>, point: Point, operand: Operand) -> Option<BTreeSet<FunctionId>> {
    let activation = tree.activation(point.activation);
    let body = input.function(activation.function);
    if let Operand::Constant(constant) = operand
        && let Constant::Function(function) = input.program.constants[constant]
    {
        return Some(BTreeSet::from([function]));
    }
    if let Operand::Register(register) = operand
        && let Some(position) = body.parameters.iter().position(|parameter| parameter.register == register)
    {
        let (from, CallKind::Call) = activation.caller? else { return None };
        let caller = tree.activation(from.activation).function;
        let call = input.instruction(caller, from.block, from.index);
        let is_called_as =
            matches!(&call.operation, Operation::Call { callee: Callee::Direct(callee), .. } if *callee == activation.function);
        return on_path(tree, input, from, Input::argument(call, position).filter(|_| is_called_as)?);
    }
    let functions = input.points_to.pointees(activation.function, operand);
    functions
        .map(|location| match input.points_to.object(location.object).kind {
            AbstractObjectKind::Function(function) => Some(function),
            _ => None,
        })
        .collect()
}
