//! Values that registers hold while a program runs.

use crate::program::{Scalar, Type};

/// An object in memory, never reused within a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId(pub u32);

/// An address, and the object it was derived from.
///
/// Objects never overlap and addresses are never reused, so provenance lost in an integer can be found again by address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pointer {
    pub address: u64,
    /// `None` for null and for integers that name no object.
    pub object: Option<ObjectId>,
}

impl Pointer {
    pub const NULL: Pointer = Pointer { address: 0, object: None };

    pub fn is_null(self) -> bool {
        self.address == 0
    }

    /// The address `bytes` further on, in the same object's name. Bounds are checked at the access.
    pub fn plus(self, bytes: u64) -> Pointer {
        Pointer { address: self.address.wrapping_add(bytes), object: self.object }
    }
}

/// The content of a register.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Scalar(ScalarValue),
    Vector(Box<[ScalarValue]>),
    Aggregate(Box<Bytes>),
}

#[derive(Clone, Debug, PartialEq)]
pub enum ScalarValue {
    /// At most 128 bits; no bit is set beyond `bits`.
    Integer {
        bits: u32,
        value: u128,
    },
    /// More than 128 bits, little-endian words, as many as `bits` needs; no bit is set beyond `bits`.
    WideInteger {
        bits: u32,
        words: Box<[u64]>,
    },
    /// The bit pattern of a floating-point number.
    Float {
        kind: Scalar,
        bits: u128,
    },
    Pointer(Pointer),
    /// Any value, chosen anew at each use.
    Undef(Scalar),
    Poison(Scalar),
}

/// Bytes with what memory knows of each: is it defined, and is it part of a pointer.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Bytes {
    pub data: Vec<u8>,
    /// One flag a byte: its content is defined.
    pub defined: Vec<bool>,
    /// Offsets at which a whole pointer stands, ascending, with the object it points into.
    pub pointers: Vec<(u64, ObjectId)>,
}

impl Bytes {
    pub fn undefined(size: u64) -> Bytes {
        Bytes { data: vec![0; size as usize], defined: vec![false; size as usize], pointers: Vec::new() }
    }

    pub fn zero(size: u64) -> Bytes {
        Bytes { data: vec![0; size as usize], defined: vec![true; size as usize], pointers: Vec::new() }
    }

    /// Defined bytes that hold no pointer.
    pub fn plain(data: Vec<u8>) -> Bytes {
        Bytes { defined: vec![true; data.len()], data, pointers: Vec::new() }
    }

    pub fn len(&self) -> u64 {
        self.data.len() as u64
    }

    pub fn is_empty(&self) -> bool {
        self.data.is_empty()
    }

    /// A copy of `size` bytes from `offset`; pointers that lie wholly inside are kept.
    pub fn slice(&self, offset: u64, size: u64, pointer_bytes: u32) -> Bytes {
        let (from, to) = (offset as usize, (offset + size) as usize);
        let inside = |at: u64| at >= offset && at + u64::from(pointer_bytes) <= offset + size;
        Bytes {
            data: self.data[from..to].to_vec(),
            defined: self.defined[from..to].to_vec(),
            pointers: self.pointers.iter().filter(|(at, _)| inside(*at)).map(|(at, o)| (at - offset, *o)).collect(),
        }
    }

    /// Overwrites the bytes from `offset`; a pointer that is overwritten in part is a pointer no longer.
    pub fn replace(&mut self, offset: u64, bytes: &Bytes, pointer_bytes: u32) {
        let (from, to) = (offset as usize, (offset + bytes.len()) as usize);
        self.data[from..to].copy_from_slice(&bytes.data);
        self.defined[from..to].copy_from_slice(&bytes.defined);
        self.pointers.retain(|(at, _)| at + u64::from(pointer_bytes) <= offset || *at >= offset + bytes.len());
        self.pointers.extend(bytes.pointers.iter().map(|(at, object)| (at + offset, *object)));
        self.pointers.sort_unstable_by_key(|(at, _)| *at);
    }
}

impl ScalarValue {
    pub fn integer(bits: u32, value: u128) -> ScalarValue {
        debug_assert!(bits <= 128, "wider integers are WideInteger");
        ScalarValue::Integer { bits, value: truncate(value, bits) }
    }

    pub fn boolean(value: bool) -> ScalarValue {
        ScalarValue::Integer { bits: 1, value: u128::from(value) }
    }

    pub fn float32(value: f32) -> ScalarValue {
        ScalarValue::Float { kind: Scalar::Float, bits: u128::from(value.to_bits()) }
    }

    pub fn float64(value: f64) -> ScalarValue {
        ScalarValue::Float { kind: Scalar::Double, bits: u128::from(value.to_bits()) }
    }

    /// All bits zero: 0, +0.0 or null.
    pub fn zero(scalar: Scalar) -> ScalarValue {
        match scalar {
            Scalar::Integer(bits) if bits > 128 => {
                ScalarValue::WideInteger { bits, words: vec![0; bits.div_ceil(64) as usize].into() }
            }
            Scalar::Integer(bits) => ScalarValue::Integer { bits, value: 0 },
            Scalar::Pointer => ScalarValue::Pointer(Pointer::NULL),
            kind => ScalarValue::Float { kind, bits: 0 },
        }
    }

    pub fn kind(&self) -> Scalar {
        match self {
            ScalarValue::Integer { bits, .. } | ScalarValue::WideInteger { bits, .. } => Scalar::Integer(*bits),
            ScalarValue::Float { kind, .. } => *kind,
            ScalarValue::Pointer(_) => Scalar::Pointer,
            ScalarValue::Undef(scalar) | ScalarValue::Poison(scalar) => *scalar,
        }
    }

    pub fn is_poison(&self) -> bool {
        matches!(self, ScalarValue::Poison(_))
    }

    /// Undef or poison.
    pub fn is_undefined(&self) -> bool {
        matches!(self, ScalarValue::Undef(_) | ScalarValue::Poison(_))
    }
}

impl Value {
    pub fn integer(bits: u32, value: u128) -> Value {
        Value::Scalar(ScalarValue::Integer { bits, value: truncate(value, bits) })
    }

    pub fn pointer(pointer: Pointer) -> Value {
        Value::Scalar(ScalarValue::Pointer(pointer))
    }

    pub fn boolean(value: bool) -> Value {
        Value::Scalar(ScalarValue::boolean(value))
    }

    pub fn float32(value: f32) -> Value {
        Value::Scalar(ScalarValue::float32(value))
    }

    pub fn float64(value: f64) -> Value {
        Value::Scalar(ScalarValue::float64(value))
    }

    /// Undefined bytes or lanes of a type. Panics on `void`, which no register has.
    pub fn undef(ty: Type) -> Value {
        Value::uniform(ty, ScalarValue::Undef, Bytes::undefined)
    }

    /// Poison; aggregates know undefined bytes only.
    pub fn poison(ty: Type) -> Value {
        Value::uniform(ty, ScalarValue::Poison, Bytes::undefined)
    }

    pub fn zero(ty: Type) -> Value {
        Value::uniform(ty, ScalarValue::zero, Bytes::zero)
    }

    fn uniform(ty: Type, scalar: impl Fn(Scalar) -> ScalarValue, bytes: impl Fn(u64) -> Bytes) -> Value {
        match ty {
            Type::Void => panic!("void has no values"),
            Type::Scalar(kind) => Value::Scalar(scalar(kind)),
            Type::Vector { lanes, element } => Value::Vector((0..lanes).map(|_| scalar(element)).collect()),
            Type::Aggregate { size } => Value::Aggregate(Box::new(bytes(size))),
        }
    }

    pub fn type_of(&self) -> Type {
        match self {
            Value::Scalar(scalar) => Type::Scalar(scalar.kind()),
            Value::Vector(lanes) => {
                let element = lanes.first().expect("a vector has at least one lane").kind();
                Type::Vector { lanes: lanes.len() as u32, element }
            }
            Value::Aggregate(bytes) => Type::Aggregate { size: bytes.len() },
        }
    }
}

/// The low `bits` of `value`.
pub fn truncate(value: u128, bits: u32) -> u128 {
    if bits >= 128 { value } else { value & ((1u128 << bits) - 1) }
}

/// The low `bits` of `value` as a signed number.
pub fn sign_extend(value: u128, bits: u32) -> i128 {
    let shift = 128 - bits.clamp(1, 128);
    ((value << shift) as i128) >> shift
}
