//! What goes wrong when an instruction does what C leaves undefined.

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
