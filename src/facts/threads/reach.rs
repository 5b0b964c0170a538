//! Where a pointer leads: to a place in an object, and never out of the array that it was counted from.
//!
//! # Theorem      Two accesses through pointers that lead to different objects, or stay in different arrays of one, have no byte in common (C17 6.5.6p8; the
//!                rooms of `facts::points_to`).

use super::super::points_to::{AbstractObjectId, Location, Offset};
use super::input::{Input, is_outside};
use crate::program::{FunctionId, Operand};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Reach {
    pub location: Location,
    /// The first byte of its array in the object, and the first one behind it.
    array: Option<(u64, u64)>,
}

impl Reach {
    /// All that a pointer may lead to, ascending.
    pub fn all(input: Input<'_>, function: FunctionId, operand: Operand) -> Vec<Reach> {
        Reach::within(input, function, operand, |_| true)
    }

    /// Where a pointer may lead in some objects, ascending.
    pub fn within(
        input: Input<'_>,
        function: FunctionId,
        operand: Operand,
        is_meant: impl Fn(AbstractObjectId) -> bool,
    ) -> Vec<Reach> {
        let points_to = input.points_to;
        let Some(set) = points_to.set_of(function, operand) else { return Vec::new() };
        let mut all: Vec<Reach> = points_to.members(set).filter(|location| is_meant(location.object)).map(Reach::to).collect();
        if all.is_empty() {
            return all;
        }
        let rooms = points_to.rooms_in(set, is_meant);
        for reach in &mut all {
            if let Some(Some((Location { offset: Offset::At(first), .. }, bytes))) = rooms.get(&reach.location) {
                reach.array = first.checked_add(*bytes).map(|end| (*first, end));
            }
        }
        all.sort_unstable();
        all
    }

    pub fn to(location: Location) -> Reach {
        Reach { location, array: None }
    }

    /// Whether so many bytes here and there may have one in common; without a size any byte of the object may be meant.
    pub fn meets(&self, input: Input<'_>, size: Option<u64>, other: &Reach, other_size: u64) -> bool {
        let Some(size) = size else {
            return self.location.object == other.location.object
                || is_outside(input, self.location) && is_outside(input, other.location);
        };
        let is_apart = match (self.bytes(size), other.bytes(other_size)) {
            (Some((first, end)), Some((other_first, other_end))) => {
                self.location.object == other.location.object && (end <= other_first || other_end <= first)
            }
            _ => false,
        };
        !is_apart && input.points_to.may_alias(self.location, size, other.location, other_size)
    }

    /// Where an access of so many bytes stays. Who accesses more than the array has does not mean it.
    fn bytes(&self, size: u64) -> Option<(u64, u64)> {
        match (self.array, self.location.offset) {
            (Some((first, end)), _) if size <= end - first => Some((first, end)),
            (_, Offset::At(at)) => Some((at, at.checked_add(size)?)),
            _ => None,
        }
    }
}
