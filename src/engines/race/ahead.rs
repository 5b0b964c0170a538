//! Ahead: what a creator does to the part of the thread that it creates next.
//!
//! # Definition   An access is ahead of a thread when its address is (`facts/threads/ahead`), or is counted from a parameter that is in all calls of its function. Its shape is that of
//!                the next instance's argument: which argument would an instance have, in whose part the accessed bytes are?
//! # Theorem      An access ahead of a thread, and one of an instance of it that touches a common byte and whose address says in the same way which argument it was created
//!                with, are in order: the argument is that of an instance which has not begun.
//! # Deviations   Addresses that are passed on through memory are not followed.

use smallvec::SmallVec;

use super::spans::Span;
use crate::facts::accesses::Position;
use crate::facts::{
    AbstractObjectId, Ahead, CallKind, Facts, InPart, MemoryAccess, Offset, TermId, ThreadId,
};
use crate::program::{FunctionId, Operand, Operation, Program};

/// How many functions an address is passed on through.
const MOST_CALLS: usize = 6;

/// An access of so many bytes behind the argument of a thread's next instance, or with that argument as a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NextPart {
    pub thread: ThreadId,
    pub by: NextBy,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NextBy {
    Part(AbstractObjectId, InPart),
    Argument(TermId),
}

/// What an access to an object is ahead of.
pub fn next_parts(
    program: &Program,
    facts: &Facts<'_>,
    (position, access, spans): (Position, &MemoryAccess, &[Span]),
    object: AbstractObjectId,
) -> SmallVec<[NextPart; 1]> {
    let Some(operand) = access.operand().filter(|_| facts.threads.has_any_ahead()) else { return SmallVec::new() };
    let part = |ahead: &Ahead, (distance, size): (i64, Option<u64>)| {
        let of_part = || {
            let (behind, size) = (u64::try_from(ahead.behind?.checked_add(distance)?).ok()?, size?);
            let (first, width) = first_part(program, facts, ahead.thread, object)?;
            let cells = (first + behind) / width;
            let is_inside = behind + size <= width && first + behind + size <= (cells + 1) * width;
            is_inside.then_some(NextBy::Part(object, InPart { first, width, cells }))
        };
        let by_term = || Some(NextBy::Argument(facts.values.term(position.function, ahead.argument?)));
        Some(NextPart { thread: ahead.thread, by: of_part().or_else(by_term)? })
    };
    let of = |operand: Operand, bytes: (i64, Option<u64>)| {
        let ahead = ahead_at(program, facts, position, operand, MOST_CALLS);
        ahead.iter().filter_map(|ahead| part(ahead, bytes)).collect::<SmallVec<[NextPart; 1]>>()
    };
    // The address, or what it is counted from.
    let spans = spans.iter().map(|span| of(span.base, (span.distance, Some(span.size))));
    spans.chain([of(operand, (0, None))]).find(|found| !found.is_empty()).unwrap_or_default()
}

/// Where in an object the parts of a thread's instances begin, and how far one is behind the other.
fn first_part(program: &Program, facts: &Facts<'_>, thread: ThreadId, object: AbstractObjectId) -> Option<(u64, u64)> {
    let width = facts.threads.argument_distance(thread)?;
    let entry = facts.threads.thread(thread).entry?;
    let register = program.functions[entry].parameters.first()?.register;
    let mut places = facts.points_to.pointees(entry, Operand::Register(register)).filter(|place| place.object == object);
    let (Some(place), None) = (places.next(), places.next()) else { return None };
    match place.offset {
        Offset::Class { residue, stride } if stride % width == 0 => Some((residue % width, width)),
        _ => None,
    }
}

fn ahead_at(
    program: &Program,
    facts: &Facts<'_>,
    position: Position,
    operand: Operand,
    most_calls: usize,
) -> SmallVec<[Ahead; 1]> {
    let known = facts.threads.ahead(position, operand);
    if !known.is_empty() || most_calls == 0 || !facts.threads.has_any_ahead() {
        return known.into();
    }
    of_parameter(program, facts, position.function, operand, most_calls).unwrap_or_default()
}

/// What all calls of a function say of an address that is counted from a parameter.
fn of_parameter(
    program: &Program,
    facts: &Facts<'_>,
    function: FunctionId,
    operand: Operand,
    most_calls: usize,
) -> Option<SmallVec<[Ahead; 1]>> {
    let values = &facts.values;
    let base = values.base(function, operand)?;
    let number = program.functions[function].parameters.iter().position(|one| one.register == base && one.by_value.is_none())?;
    let distance = values.difference(values.term(function, operand), values.term(function, Operand::Register(base)))?;
    let mut found: Option<SmallVec<[Ahead; 1]>> = None;
    for edge in facts.call_graph.calls_of(function) {
        let (CallKind::Call, Some(caller), Some(site)) = (edge.kind, edge.caller, edge.site) else { return None };
        for (block, content) in program.functions[caller].blocks.iter_enumerated() {
            for (index, instruction) in content.instructions.iter().enumerate().filter(|(_, one)| one.site == site) {
                let Operation::Call { arguments, .. } = &instruction.operation else { continue };
                let position = Position { function: caller, block, index };
                let passed = ahead_at(program, facts, position, arguments.get(number)?.value, most_calls - 1);
                let moved = |ahead: &Ahead| {
                    let behind = ahead.behind?.checked_add(distance)?;
                    Some(Ahead { behind: Some(behind), argument: None, ..*ahead })
                };
                let passed: SmallVec<[Ahead; 1]> = passed.iter().filter_map(moved).collect();
                match &mut found {
                    Some(known) => known.retain(|one| passed.contains(one)),
                    None => found = Some(passed),
                }
            }
        }
    }
    found
}
