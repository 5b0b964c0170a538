//! Types of accesses: which lvalues may touch bytes that were stored through others.
//!
//! # Definition   The compiler gives an access a type of a tree: `p1 conn` below `any pointer` below `char`. An access of no type is one of `char`.
//! # Theorem      A value that was stored with one type and is read with another, neither of them above the other, is undefined behaviour (C17
//!                6.5p7, LLVM's type-based alias analysis). Programs that are built with `-fno-strict-aliasing` have no types here.

use super::{AliasTypeId, Program};

/// A type of the tree; without a parent it stands below `char`, which touches everything.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AliasType {
    pub name: String,
    pub parent: Option<AliasTypeId>,
}

impl Program {
    /// Whether a read of one type may see what was stored with the other.
    pub fn may_touch(&self, one: Option<AliasTypeId>, other: Option<AliasTypeId>) -> bool {
        let (Some(one), Some(other)) = (one, other) else { return true };
        self.is_above(one, other) || self.is_above(other, one)
    }

    fn is_above(&self, upper: AliasTypeId, lower: AliasTypeId) -> bool {
        std::iter::successors(Some(lower), |ty| self.alias_types[*ty].parent).any(|ty| ty == upper)
    }
}
