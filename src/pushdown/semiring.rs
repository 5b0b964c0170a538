//! Semirings: what the paths of a pushdown system are weighed with.
//!
//! # Definition   A bounded idempotent semiring (D, ⊕, ⊗, 0, 1): ⊕ (`combine`, the choice between paths) is associative, commutative and idempotent
//!                with neutral 0; ⊗ (`extend`, one path after another) is associative with neutral 1, distributes over ⊕ from both sides, and
//!                0 annihilates it. a ⊑ b iff a ⊕ b = a; no infinite descending chains.
//! # Theorem      ⊑ is a partial order, both operations are monotone in it, 0 is its greatest element; any ⊕ of path weights, also of infinitely
//!                many paths, is reached after finitely many improvements. This is all that saturation needs to end with the right weights.
//! # Paper        Reps, Schwoon, Jha, Melski 2005; Kidd, Lammich, Touili, Reps 2009, definition 6.
//! # Deviations   1. The semiring is a value and its operations take `&mut self`, so that weights can be small numbers of a table that the
//!                semiring keeps, with a memory of what was computed before.  2. ⊗ need not commute: `extend(first, then)`.

use std::fmt::Debug;

/// A bounded idempotent semiring. The laws of the module's head are the implementer's promise.
pub trait Semiring {
    type Weight: Clone + PartialEq + Debug;

    /// No path at all.
    fn zero(&self) -> Self::Weight;

    /// The path of no rules.
    fn one(&self) -> Self::Weight;

    /// a ⊕ b: either path.
    fn combine(&mut self, left: &Self::Weight, right: &Self::Weight) -> Self::Weight;

    /// a ⊗ b: `first`, and `then` after it.
    fn extend(&mut self, first: &Self::Weight, then: &Self::Weight) -> Self::Weight;

    fn is_zero(&self, weight: &Self::Weight) -> bool {
        *weight == self.zero()
    }

    /// a ⊑ b: `right` adds nothing to `left`.
    fn precedes(&mut self, left: &Self::Weight, right: &Self::Weight) -> bool {
        self.combine(left, right) == *left
    }
}

/// Is there a path? The weights of a system without weights.
#[derive(Clone, Copy, Debug, Default)]
pub struct Boolean;

impl Semiring for Boolean {
    type Weight = bool;

    fn zero(&self) -> bool {
        false
    }

    fn one(&self) -> bool {
        true
    }

    fn combine(&mut self, left: &bool, right: &bool) -> bool {
        *left || *right
    }

    fn extend(&mut self, first: &bool, then: &bool) -> bool {
        *first && *then
    }
}

/// The length of a shortest path: ⊕ is the minimum, ⊗ the sum.
#[derive(Clone, Copy, Debug, Default)]
pub struct MinimalLength;

impl MinimalLength {
    /// The weight 0: no path.
    pub const NONE: u64 = u64::MAX;
    /// Paths at least this long all count as this long: long is not unreachable.
    pub const LONGEST: u64 = u64::MAX - 1;
}

impl Semiring for MinimalLength {
    type Weight = u64;

    fn zero(&self) -> u64 {
        Self::NONE
    }

    fn one(&self) -> u64 {
        0
    }

    fn combine(&mut self, left: &u64, right: &u64) -> u64 {
        *left.min(right)
    }

    fn extend(&mut self, first: &u64, then: &u64) -> u64 {
        match (*first, *then) {
            (Self::NONE, _) | (_, Self::NONE) => Self::NONE,
            (first, then) => first.saturating_add(then).min(Self::LONGEST),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All laws on all triples of some weights.
    fn obeys_the_laws<S: Semiring>(mut semiring: S, weights: &[S::Weight]) {
        let (zero, one) = (semiring.zero(), semiring.one());
        for a in weights {
            assert_eq!(semiring.combine(a, a), *a);
            assert_eq!(semiring.combine(a, &zero), *a);
            assert!(semiring.precedes(a, &zero));
            assert_eq!((semiring.extend(a, &one), semiring.extend(&one, a)), (a.clone(), a.clone()));
            assert_eq!((semiring.extend(a, &zero), semiring.extend(&zero, a)), (zero.clone(), zero.clone()));
            for b in weights {
                assert_eq!(semiring.combine(a, b), semiring.combine(b, a));
                for c in weights {
                    let (ab, ac, bc) = (semiring.extend(a, b), semiring.extend(a, c), semiring.extend(b, c));
                    assert_eq!(semiring.extend(&ab, c), semiring.extend(a, &bc));
                    let either = semiring.combine(b, c);
                    assert_eq!(semiring.extend(a, &either), semiring.combine(&ab, &ac));
                    let either = semiring.combine(a, b);
                    assert_eq!(semiring.extend(&either, c), semiring.combine(&ac, &bc));
                }
            }
        }
    }

    #[test]
    fn the_two_semirings_obey_the_laws() {
        obeys_the_laws(Boolean, &[false, true]);
        let (longest, none) = (MinimalLength::LONGEST, MinimalLength::NONE);
        obeys_the_laws(MinimalLength, &[0, 1, 2, 7, longest / 2, longest - 1, longest, none]);
    }
}
