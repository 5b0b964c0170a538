//! Types of accesses: which lvalues may touch bytes that were stored through others.
//!
//! # Definition   The compiler gives an access a scalar type of a tree (`p1 conn` below `any pointer` below `char`) and, where the lvalue names one, a
//!                member: an offset in the innermost structure. An access of no type is one of `char`.
//! # Theorem      A value that is stored with one type and read with another is undefined behaviour, when they are different members, a member and a scalar
//!                type that is not above the member's, or scalar types neither of which is above the other (C17 6.5p7, LLVM's type-based alias analysis).
//! # Deviations   1. Programs that are built with `-fno-strict-aliasing` have no types here.  2. Structures are one when their names and all
//!                their scalars agree, so that each file may describe them for itself.
//!                3. Of a path of members only the last one counts: a structure is the same wherever it lies.  4. Compilers give the members of a structure with
//!                a flexible array their scalar types alone. They are members here, of *open* structures; programs overlay those with others of the same
//!                beginning, so that members at the same offset and of the same scalar type touch if one of them is open.

use super::{AliasTypeId, Program};

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum AliasType {
    /// A type of the tree; without a parent it stands below `char`, which touches everything.
    Scalar { name: String, parent: Option<AliasTypeId> },
    /// A member, its structure's name, and its scalar type. Members with the same number are the same.
    Member { structure: String, offset: u64, scalar: AliasTypeId, is_open: bool },
}

impl Program {
    /// Whether a read of one type may see what was stored with the other.
    pub fn may_touch(&self, one: Option<AliasTypeId>, other: Option<AliasTypeId>) -> bool {
        let (Some(one), Some(other)) = (one, other) else { return true };
        match (&self.alias_types[one], &self.alias_types[other]) {
            (
                AliasType::Member { offset, scalar, is_open, .. },
                AliasType::Member { offset: other_offset, scalar: other_scalar, is_open: other_is_open, .. },
            ) => one == other || (*is_open || *other_is_open) && (offset, scalar) == (other_offset, other_scalar),
            (AliasType::Member { .. }, AliasType::Scalar { .. }) => self.is_above(other, one),
            (AliasType::Scalar { .. }, AliasType::Member { .. }) => self.is_above(one, other),
            (AliasType::Scalar { .. }, AliasType::Scalar { .. }) => self.is_above(one, other) || self.is_above(other, one),
        }
    }

    /// Whether it is the type of pointers to objects of a known type: neither of `void *`, nor of pointers to functions.
    pub fn is_pointer_to_object(&self, ty: AliasTypeId) -> bool {
        match &self.alias_types[ty] {
            AliasType::Scalar { name, .. } => is_pointer_to_object(name),
            AliasType::Member { scalar, .. } => self.is_pointer_to_object(*scalar),
        }
    }

    /// Whether it is the type of numbers alone: no pointer, and not what bytes of anything are accessed as.
    pub fn is_number(&self, ty: AliasTypeId) -> bool {
        match &self.alias_types[ty] {
            AliasType::Scalar { name, .. } => name != "any pointer" && !name.contains("char") && !is_pointer_to_object(name),
            AliasType::Member { scalar, .. } => self.is_number(*scalar),
        }
    }

    fn is_above(&self, upper: AliasTypeId, lower: AliasTypeId) -> bool {
        let parent = |ty: &AliasTypeId| match &self.alias_types[*ty] {
            AliasType::Scalar { parent, .. } => *parent,
            AliasType::Member { scalar, .. } => Some(*scalar),
        };
        std::iter::successors(Some(lower), parent).any(|ty| ty == upper)
    }
}

/// Clang's names: `p1 int`, `p2 _ZTS4item`, `any p2 pointer`; `any pointer` is what is left.
fn is_pointer_to_object(name: &str) -> bool {
    let digits = name.strip_prefix("any p").or(name.strip_prefix('p'));
    digits.is_some_and(|rest| rest.starts_with(|digit: char| digit.is_ascii_digit()))
}
