//! A caller's term in the words of its callee.

use smallvec::SmallVec;

use super::pure::wrap;
use super::term::{Parts, Table, Term, TermId};

/// How often an argument is subtracted before the rest is looked at.
const MOST_STEPS: usize = 3;

/// `bindings` are pairs of an argument's term, the caller's, and the leaf of the parameter. T is, in the callee's words, P + c when
/// T = A + c; else all its parts must be sayable.
pub(super) fn rebase(table: &mut Table, term: TermId, bindings: &[(TermId, TermId)]) -> Option<TermId> {
    // An argument `leaf + c` says what the leaf is.
    let mut known: SmallVec<[(TermId, TermId); 8]> = SmallVec::new();
    for (argument, parameter) in bindings {
        if table.bits(*argument) == 0 || table.bits(*argument) != table.bits(*parameter) {
            if *argument == term {
                return Some(*parameter);
            }
            continue;
        }
        known.push((*argument, *parameter));
        let (constant, parts) = table.as_sum(*argument);
        if let ([(part, 1)], true) = (parts.as_slice(), constant != 0) {
            let part = *part;
            let value = table.plus(*parameter, (constant as i64).wrapping_neg());
            known.push((part, value));
        }
    }
    let new = said(table, term, &known, MOST_STEPS)?;
    table.is_small(new).then_some(new)
}

fn said(table: &mut Table, term: TermId, known: &[(TermId, TermId)], steps: usize) -> Option<TermId> {
    for (argument, parameter) in known {
        if table.leaves(*argument).is_empty() {
            continue;
        }
        if let Some(distance) = table.difference(term, *argument).filter(|_| table.bits(term) != 0) {
            return Some(table.plus(*parameter, distance));
        }
    }
    if steps > 0
        && let Some(new) = without_argument(table, term, known, steps)
    {
        return Some(new);
    }
    match table.get(term).clone() {
        Term::Leaf { .. } => None,
        Term::Sum { bits, constant, parts } => {
            let mut new = Parts::new();
            for (part, factor) in parts {
                new.push((said(table, part, known, steps.saturating_sub(1))?, factor));
            }
            Some(table.sum(bits, constant, &new))
        }
        Term::Operation { operation, bits, operands } => {
            let mut new = SmallVec::new();
            for operand in operands {
                new.push(said(table, operand, known, steps.saturating_sub(1))?);
            }
            Some(table.operation(operation, bits, new))
        }
        Term::Integer { .. } | Term::Global(_) | Term::Function(_) | Term::Constant(_) | Term::Object | Term::Coordinate(_) => {
            Some(term)
        }
    }
}

/// T = A + R, where R is shorter than T and can be said.
fn without_argument(table: &mut Table, term: TermId, known: &[(TermId, TermId)], steps: usize) -> Option<TermId> {
    let bits = table.bits(term);
    let length = table.as_sum(term).1.len();
    for (argument, parameter) in known {
        let parts = table.as_sum(*argument).1.len();
        if parts < 2 || length <= parts || table.bits(*argument) != bits {
            continue;
        }
        let rest = table.sum(bits, 0, &[(term, 1), (*argument, wrap(bits, u64::MAX))]);
        if table.as_sum(rest).1.len() + parts == length
            && let Some(rest) = said(table, rest, known, steps - 1)
        {
            return Some(table.sum(bits, 0, &[(*parameter, 1), (rest, 1)]));
        }
    }
    None
}
