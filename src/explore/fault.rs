//! What goes wrong when an instruction does what C leaves undefined.

use std::fmt;

use super::value::ObjectId;

/// A step that cannot be completed. The run ends here, and the report names the rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// An access at or near address 0.
    NullDereference { address: u64 },
    /// Outside the object the pointer was derived from.
    OutOfBounds { object: ObjectId, offset: i64, size: u64 },
    /// The object was freed, or its scope was left.
    UseAfterFree { object: ObjectId },
    /// Freed twice.
    DoubleFree { object: ObjectId },
    /// `free` of what was not allocated.
    InvalidFree { address: u64 },
    /// The address belongs to no object.
    WildPointer { address: u64 },
    /// A write to a constant.
    ReadOnly { object: ObjectId },
    /// Also the one signed division that overflows: the minimum by -1.
    DivisionByZero,
    /// No address range of this size is left.
    OutOfMemory { size: u64 },
    /// `__builtin_unreachable`, a call through a pointer that is no function, …
    Undefined { what: String },
    /// The failed assertion's text.
    Assertion { what: String },
}

impl Fault {
    pub fn undefined(what: impl Into<String>) -> Fault {
        Fault::Undefined { what: what.into() }
    }
}

/// In the words of C, without names: only a run knows those.
impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NullDereference { .. } => write!(f, "a null pointer is dereferenced"),
            Self::OutOfBounds { offset, size, .. } => {
                write!(f, "an access of {size} bytes at offset {offset} lies outside its object")
            }
            Self::UseAfterFree { .. } => write!(f, "memory is used after it was freed or its scope was left"),
            Self::DoubleFree { .. } => write!(f, "memory is freed twice"),
            Self::InvalidFree { .. } => write!(f, "memory is freed that was not allocated"),
            Self::WildPointer { address } => write!(f, "address {address:#x} belongs to no object"),
            Self::ReadOnly { .. } => write!(f, "a constant is written to"),
            Self::DivisionByZero => write!(f, "division by zero (or of the least integer by -1)"),
            Self::OutOfMemory { size } => write!(f, "there is no room for an object of {size} bytes"),
            Self::Undefined { what } => write!(f, "undefined behaviour: {what}"),
            Self::Assertion { what } if what.is_empty() => write!(f, "an assertion fails"),
            Self::Assertion { what } => write!(f, "an assertion fails: {what}"),
        }
    }
}
