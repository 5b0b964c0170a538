//! The types that execution needs: how wide a value is, and whether it is a number, a pointer or just bytes.

/// Pointer width and byte order, from the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataLayout {
    /// 4 or 8.
    pub pointer_bytes: u32,
    /// The target triple, for instance `x86_64-pc-linux-gnu`.
    pub triple: String,
}

impl Default for DataLayout {
    fn default() -> Self {
        Self { pointer_bytes: 8, triple: "x86_64-pc-linux-gnu".to_owned() }
    }
}

impl DataLayout {
    pub fn pointer_bits(&self) -> u32 {
        self.pointer_bytes * 8
    }

    /// The bytes that a load or store of this scalar touches. All supported targets are little-endian.
    pub fn scalar_bytes(&self, scalar: Scalar) -> u64 {
        match scalar {
            Scalar::Integer(bits) => u64::from(bits.div_ceil(8)),
            Scalar::Half | Scalar::BFloat => 2,
            Scalar::Float => 4,
            Scalar::Double => 8,
            Scalar::X86Fp80 => 10,
            Scalar::Fp128 => 16,
            Scalar::Pointer => u64::from(self.pointer_bytes),
        }
    }

    /// The width of a scalar as a lane of a vector, in bits; lanes are packed without padding.
    pub fn scalar_bits(&self, scalar: Scalar) -> u32 {
        match scalar {
            Scalar::Integer(bits) => bits,
            Scalar::X86Fp80 => 80,
            other => self.scalar_bytes(other) as u32 * 8,
        }
    }

    /// The bytes that a load or store of this type touches (no tail padding of the element).
    pub fn store_bytes(&self, ty: Type) -> u64 {
        match ty {
            Type::Void => 0,
            Type::Scalar(scalar) => self.scalar_bytes(scalar),
            Type::Vector { lanes, element } => (u64::from(lanes) * u64::from(self.scalar_bits(element))).div_ceil(8),
            Type::Aggregate { size } => size,
        }
    }
}

/// A value that fits one machine operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scalar {
    /// Any width from 1 bit up.
    Integer(u32),
    Half,
    BFloat,
    Float,
    Double,
    X86Fp80,
    Fp128,
    Pointer,
}

impl Scalar {
    pub fn is_float(self) -> bool {
        !matches!(self, Scalar::Integer(_) | Scalar::Pointer)
    }
}

/// The type of a register, an operand or a memory access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Type {
    Void,
    Scalar(Scalar),
    Vector {
        lanes: u32,
        element: Scalar,
    },
    /// A struct or array as a value: its bytes in memory layout, padding included.
    Aggregate {
        size: u64,
    },
}

impl Type {
    pub const BOOL: Type = Type::integer(1);
    pub const POINTER: Type = Type::Scalar(Scalar::Pointer);

    pub const fn integer(bits: u32) -> Type {
        Type::Scalar(Scalar::Integer(bits))
    }

    /// The scalar of this type, or of each of its lanes.
    pub fn element(self) -> Option<Scalar> {
        match self {
            Type::Scalar(element) | Type::Vector { element, .. } => Some(element),
            Type::Void | Type::Aggregate { .. } => None,
        }
    }
}
