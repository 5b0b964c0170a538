//! How far one address lies behind another, where that is a number and a multiple of what two values differ by.
//!
//! # Theorem      For two addresses of one object, as accesses use them: left − right = constant + factor·(more − less), in whole numbers, when
//!                `more` and `less` are read as [`Gap::is_signed`] says. (The factors of addresses are exact, see `build`; an index narrower than an
//!                address is extended as its term says, one as wide is signed, pointers are not.)

use super::pure::{Pure, signed};
use super::term::{LeafKind, Table, Term, TermId};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    pub constant: i64,
    pub growth: Option<Growth>,
}

/// A positive multiple of `more − less`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Growth {
    pub more: TermId,
    pub less: TermId,
    pub is_signed: bool,
}

pub(super) fn gap(table: &mut Table, left: TermId, right: TermId) -> Option<Gap> {
    let bits = table.bits(left);
    if bits == 0 || bits != table.bits(right) {
        return None;
    }
    let difference = table.sum(bits, 0, &[(left, 1), (right, u64::MAX)]);
    let (constant, parts) = table.as_sum(difference);
    let constant = signed(bits, constant);
    let (one, other) = match parts[..] {
        [] => return Some(Gap { constant, growth: None }),
        [one, other] => (one, other),
        _ => return None,
    };
    let (first, second) = (signed(bits, one.1), signed(bits, other.1));
    let (more, less) = match (first > 0, first.checked_neg() == Some(second)) {
        (true, true) => (one.0, other.0),
        (false, true) => (other.0, one.0),
        (_, false) => return None,
    };
    let (more, how) = inner(table, more)?;
    let (less, same) = inner(table, less)?;
    (how == same && table.bits(more) == table.bits(less))
        .then_some(Gap { constant, growth: Some(Growth { more, less, is_signed: how }) })
}

/// What is extended, and whether it is a signed number.
fn inner(table: &Table, term: TermId) -> Option<(TermId, bool)> {
    match table.get(term) {
        Term::Operation { operation: Pure::SignExtend, operands, .. } => Some((operands[0], true)),
        Term::Operation { operation: Pure::ZeroExtend, operands, .. } => Some((operands[0], false)),
        Term::Leaf { kind: LeafKind::Pointer, .. } | Term::Global(_) => Some((term, false)),
        Term::Leaf { kind: LeafKind::Integer(_), .. } | Term::Operation { .. } => Some((term, true)),
        _ => None,
    }
}
