//! Types of accesses: which lvalues may touch bytes that were stored through others.
//!
//! # Definition   The compiler gives an access a scalar type of a tree (`p1 conn` below `any pointer` below `char`) and, where the lvalue names one, a
//!                member: an offset in the innermost structure. An access of no type is one of `char`.
//! # Theorem      A value that is stored with one type and read with another is undefined behaviour, when neither scalar type is above the other or
//!                they are different members (C17 6.5p7, LLVM's type-based alias analysis).
//! # Deviations   1. Programs that are built with `-fno-strict-aliasing` have no types here.  2. Structures are one when their names and all
//!                their scalars agree, so that each file may describe them for itself.
//!                3. Of a path of members only the last one counts: a structure is the same wherever it lies.

use super::{AliasTypeId, Program};

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum AliasType {
    /// A type of the tree; without a parent it stands below `char`, which touches everything.
    Scalar { name: String, parent: Option<AliasTypeId> },
    /// A member, its structure's name, and its scalar type. Members with the same number are the same.
    Member { structure: String, offset: u64, scalar: AliasTypeId },
}

impl Program {
    /// Whether a read of one type may see what was stored with the other.
    pub fn may_touch(&self, one: Option<AliasTypeId>, other: Option<AliasTypeId>) -> bool {
        let (Some(one), Some(other)) = (one, other) else { return true };
        let scalar = |ty: AliasTypeId| match self.alias_types[ty] {
            AliasType::Scalar { .. } => (ty, false),
            AliasType::Member { scalar, .. } => (scalar, true),
        };
        let ((one_scalar, one_is_member), (other_scalar, other_is_member)) = (scalar(one), scalar(other));
        if one_is_member && other_is_member {
            return one == other;
        }
        self.is_above(one_scalar, other_scalar) || self.is_above(other_scalar, one_scalar)
    }

    fn is_above(&self, upper: AliasTypeId, lower: AliasTypeId) -> bool {
        let parent = |ty: &AliasTypeId| match &self.alias_types[*ty] {
            AliasType::Scalar { parent, .. } => *parent,
            AliasType::Member { scalar, .. } => Some(*scalar),
        };
        std::iter::successors(Some(lower), parent).any(|ty| ty == upper)
    }
}
