//! Constants: the leaves that operands name. Constant expressions are instructions, not constants.

use super::{BlockId, ConstantId, FunctionId, GlobalId, Scalar, Type};

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Constant {
    /// `bits` ≤ 128; `value` has no bit set beyond `bits`.
    Integer {
        bits: u32,
        value: u128,
    },
    /// `bits` > 128, little-endian words.
    WideInteger {
        bits: u32,
        words: Vec<u64>,
    },
    /// The bit pattern of a floating-point number of the given kind.
    Float {
        kind: Scalar,
        bits: u128,
    },
    Null,
    Undef(Type),
    Poison(Type),
    /// All bytes zero; aggregates and vectors only.
    Zero(Type),
    /// The address of a global that is not thread-local.
    Global(GlobalId),
    Function(FunctionId),
    /// The address of a label (computed goto).
    Block(FunctionId, BlockId),
    /// One scalar constant a lane.
    Vector {
        element: Scalar,
        lanes: Vec<ConstantId>,
    },
    /// Elements at byte offsets, ascending and disjoint; bytes that no element covers are undef.
    Aggregate {
        size: u64,
        elements: Vec<(u64, ConstantId)>,
    },
}

impl Constant {
    pub fn integer(bits: u32, value: u128) -> Constant {
        Constant::Integer { bits, value: if bits >= 128 { value } else { value & ((1 << bits) - 1) } }
    }

    pub fn type_of(&self) -> Type {
        match self {
            Constant::Integer { bits, .. } | Constant::WideInteger { bits, .. } => Type::integer(*bits),
            Constant::Float { kind, .. } => Type::Scalar(*kind),
            Constant::Null | Constant::Global(_) | Constant::Function(_) | Constant::Block(..) => Type::POINTER,
            Constant::Undef(ty) | Constant::Poison(ty) | Constant::Zero(ty) => *ty,
            Constant::Vector { element, lanes } => Type::Vector { lanes: lanes.len() as u32, element: *element },
            Constant::Aggregate { size, .. } => Type::Aggregate { size: *size },
        }
    }
}
