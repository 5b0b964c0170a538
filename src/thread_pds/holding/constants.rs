//! Numbers that callers give, where they decide what the callee does with locks: `pause(LOCK_ALL)`, `enter(table, 1)`.
//!
//! # Definition   A parameter *decides* if a number in it reaches a branch whose sides do different things to locks, selects an element of an array of
//!                locks, or is handed to a parameter that decides in a callee. A number that is known at a call is part of the context that the
//!                call enters, and is known there from the start.
//! # Theorem      A context with numbers is entered by calls that give these numbers, and by no others: what a branch does with other numbers is not
//!                looked at. Numbers are let go, never invented: a context without them stands for all.
//! # Bounds       So many tuples of numbers for one function and no more. Inside recursion only what was written as a number, or is handed on as it came,
//!                is told apart, so that counting down does not unroll it.

use rustc_hash::{FxHashMap, FxHashSet};
use typed_index_collections::TiVec;

use super::calls::CallAt;
use super::context::ContextKey;
use super::skeleton::{EventKind, Skeleton, Skeletons, Target};
use super::state::Alternative;
use super::tabulate::Tabulation;
use crate::facts::{Facts, Valuation};
use crate::program::{BlockId, Function, FunctionId, Operand, Operation, Program, RegisterId, Scalar, TerminatorKind, Type};

/// Numbers by the position of their parameter, ascending.
pub type Numbers = Vec<(usize, u64)>;

/// More tuples of numbers of one function are not told apart.
const MOST_TUPLES: usize = 8;
/// With more contexts of all functions together, no further ones are told apart by numbers.
const MOST_CONTEXTS: usize = 16_000;

/// In larger functions every branch counts.
const MOST_BLOCKS: usize = 1000;

/// By function: the positions of parameters that decide, ascending; of functions that change no lockset none.
pub type Deciding = TiVec<FunctionId, Vec<usize>>;

pub fn find(
    program: &Program,
    facts: &Facts<'_>,
    skeletons: &Skeletons,
    lock_parameters: &TiVec<FunctionId, Vec<usize>>,
) -> Deciding {
    let mut found: Deciding = program.functions.iter().map(|_| Vec::new()).collect();
    // Callees before callers; inside a cycle until nothing changes.
    for component in facts.call_graph.components() {
        loop {
            let mut is_done = true;
            for function in component.iter().filter(|function| skeletons[**function].is_changing) {
                let body = &program.functions[*function];
                if body.parameters.is_empty() {
                    continue;
                }
                let decisions = decisions(body, skeletons, *function);
                let passed = passed(&skeletons[*function], &found).into_iter().flatten();
                let mut deciding = parameters(body, decisions.into_iter().chain(passed));
                let is_number =
                    |position: &&usize| integer_bits(body.registers[body.parameters[**position].register].ty).is_some();
                deciding.extend(lock_parameters[*function].iter().filter(is_number));
                deciding.sort_unstable();
                deciding.dedup();
                if found[*function] != deciding {
                    found[*function] = deciding;
                    is_done = component.len() == 1;
                }
            }
            if is_done {
                break;
            }
        }
    }
    found
}

/// By block: the operands that calls hand to parameters that decide.
pub fn passed(skeleton: &Skeleton, deciding: &Deciding) -> TiVec<BlockId, Vec<Operand>> {
    let of_block = |events: &Vec<super::skeleton::Event>| {
        let calls = events.iter().filter_map(|event| match &event.kind {
            EventKind::Call(call) => Some(call),
            EventKind::Define(_) | EventKind::Access => None,
        });
        let mut operands = Vec::new();
        for call in calls {
            for target in &call.targets {
                let Target::Body(callee) = target else { continue };
                operands.extend(deciding[*callee].iter().filter_map(|position| Some(call.arguments.get(*position)?.value)));
            }
        }
        operands
    };
    skeleton.blocks.iter().map(of_block).collect()
}

/// What branches look at whose sides do different things to locks.
fn decisions(body: &Function, skeletons: &Skeletons, function: FunctionId) -> Vec<Operand> {
    let changes = |block: BlockId| {
        skeletons[function].blocks[block].iter().any(|event| match &event.kind {
            EventKind::Call(call) => call.targets.iter().any(|target| match target {
                Target::Body(callee) => skeletons[*callee].is_changing,
                Target::Library(actions) => actions.iter().any(super::action::Action::changes_locksets),
            }),
            EventKind::Define(_) | EventKind::Access => false,
        })
    };
    let changing: FxHashSet<BlockId> = body.blocks.keys().filter(|block| changes(*block)).collect();
    let mut operands = Vec::new();
    for (id, block) in body.blocks.iter_enumerated() {
        let operand = match &block.terminator.kind {
            TerminatorKind::Branch { condition, .. } => *condition,
            TerminatorKind::Switch { value, .. } => *value,
            TerminatorKind::Jump(_)
            | TerminatorKind::Return(_)
            | TerminatorKind::IndirectJump { .. }
            | TerminatorKind::AnyOf(_)
            | TerminatorKind::Unreachable => continue,
        };
        if body.blocks.len() > MOST_BLOCKS {
            operands.push(operand);
            continue;
        }
        let mut sides = block.terminator.kind.successors().into_iter().map(|side| ahead(body, side, id, &changing));
        let first = sides.next();
        if sides.any(|side| Some(&side) != first.as_ref()) {
            operands.push(operand);
        }
    }
    operands
}

/// The changes that lie ahead of a block, before `branch` is come to again.
fn ahead(body: &Function, from: BlockId, branch: BlockId, changing: &FxHashSet<BlockId>) -> FxHashSet<BlockId> {
    let mut seen: FxHashSet<BlockId> = FxHashSet::from_iter([branch, from]);
    let mut open = if from == branch { Vec::new() } else { vec![from] };
    let mut found = FxHashSet::default();
    while let Some(block) = open.pop() {
        if changing.contains(&block) {
            found.insert(block);
        }
        open.extend(body.blocks[block].terminator.kind.successors().into_iter().filter(|next| seen.insert(*next)));
    }
    found
}

/// The parameters that operands are computed from, by operations that valuations look through.
fn parameters(body: &Function, operands: impl Iterator<Item = Operand>) -> Vec<usize> {
    let mut made: FxHashMap<RegisterId, Vec<Operand>> = FxHashMap::default();
    for block in &body.blocks {
        made.extend(block.phis.iter().map(|phi| (phi.result, phi.operands.clone())));
        for instruction in &block.instructions {
            if let Some(result) = instruction.result {
                made.insert(result, super::usefulness::operands(&instruction.operation));
            }
        }
    }
    let mut seen: FxHashSet<RegisterId> = FxHashSet::default();
    let mut open: Vec<Operand> = operands.collect();
    while let Some(operand) = open.pop() {
        if let Operand::Register(register) = operand
            && seen.insert(register)
        {
            open.extend(made.get(&register).into_iter().flatten());
        }
    }
    let is_reached = |position: &usize| {
        let parameter = &body.parameters[*position];
        parameter.by_value.is_none() && seen.contains(&parameter.register)
    };
    (0..body.parameters.len()).filter(is_reached).collect()
}

/// How wide a number is.
fn integer_bits(ty: Type) -> Option<u32> {
    match ty {
        Type::Scalar(Scalar::Integer(bits)) if (1..=64).contains(&bits) => Some(bits),
        _ => None,
    }
}

impl Tabulation<'_, '_> {
    /// The numbers that a call gives to parameters of the callee that decide.
    pub(super) fn numbers(
        &mut self,
        at: &CallAt<'_>,
        before: &Alternative,
        callee: FunctionId,
        arguments: &[Operand],
    ) -> Numbers {
        if self.deciding[callee].is_empty() || arguments.is_empty() || self.contexts.all.len() > MOST_CONTEXTS {
            return Numbers::new();
        }
        let deciding = self.deciding[callee].clone();
        let definitions = self.definitions(at.key.function);
        let program = self.program;
        let calls = &self.facts.call_graph;
        let (caller, body) = (&program.functions[at.key.function], &program.functions[callee]);
        let is_recursion = calls.component_of(at.key.function) == calls.component_of(callee);
        let is_own = |operand: Operand| caller.parameters.iter().any(|own| Operand::Register(own.register) == operand);
        let mut numbers = Numbers::new();
        for position in deciding {
            let Some(argument) = arguments.get(position).copied() else { continue };
            if is_recursion && !matches!(argument, Operand::Constant(_)) && !is_own(argument) {
                continue;
            }
            // A call through a pointer may have other types than its callee.
            if program.type_of(caller, argument) != body.registers[body.parameters[position].register].ty {
                continue;
            }
            numbers.extend(before.valuation.evaluate(&definitions, argument).map(|number| (position, number)));
        }
        let known = self.tuples.entry(callee).or_default();
        if !known.contains(&numbers) {
            if known.len() >= MOST_TUPLES {
                return Numbers::new();
            }
            known.insert(numbers.clone());
        }
        numbers
    }

    /// What is known of registers where a context is entered.
    pub(super) fn at_entry(&self, key: &ContextKey) -> Valuation {
        let mut valuation = Valuation::default();
        for (position, number) in &key.numbers {
            let register = self.program.functions[key.function].parameters[*position].register;
            valuation.state(register, crate::facts::Knowledge::Equal(*number));
        }
        valuation
    }

    /// How many bytes an offset adds in a context whose numbers say so.
    pub(super) fn distance(&mut self, key: &ContextKey, operation: &Operation) -> Option<(Operand, i64)> {
        let Operation::Offset { base, constant, terms, .. } = operation else { return None };
        let (definitions, valuation) = (self.definitions(key.function), self.at_entry(key));
        let body = &self.program.functions[key.function];
        let mut distance = *constant;
        for term in terms {
            let number = valuation.evaluate(&definitions, term.index)?;
            let bits = integer_bits(self.program.type_of(body, term.index))?;
            let signed = (number << (64 - bits)) as i64 >> (64 - bits);
            distance = distance.checked_add(signed.checked_mul(term.stride)?)?;
        }
        Some((*base, distance))
    }
}
