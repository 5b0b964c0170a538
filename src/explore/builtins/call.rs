//! One call of a library function: its arguments as C sees them, and its result in the width the caller declared.

use crate::explore::environment::Environment;
use crate::explore::fault::Fault;
use crate::explore::machine::native::NativeFrame;
use crate::explore::value::{Pointer, ScalarValue, Value};
use crate::program::{Scalar, Type};

/// What a library function answers.
#[derive(Clone, Debug)]
pub enum BuiltinResult {
    Return(Option<Value>),
    /// It calls back into the program: the frame goes on the thread's stack.
    Frame(Box<dyn NativeFrame>),
}

pub type Outcome = Result<BuiltinResult, Fault>;

pub struct Call<'a> {
    pub environment: &'a mut dyn Environment,
    pub arguments: &'a [Value],
    /// The types of the actual arguments.
    pub types: &'a [Type],
    pub return_type: Type,
}

impl Call<'_> {
    pub fn argument(&self, position: usize) -> Result<&Value, Fault> {
        self.arguments
            .get(position)
            .ok_or_else(|| Fault::Undefined { what: format!("a library call without argument {}", position + 1) })
    }

    pub fn pointer(&self, position: usize) -> Result<Pointer, Fault> {
        pointer_of(self.environment, self.argument(position)?)
    }

    /// The argument as an unsigned number of its own width.
    pub fn unsigned(&self, position: usize) -> Result<u64, Fault> {
        Ok(bits_of(self.argument(position)?)?.0 as u64)
    }

    /// The argument as a signed number of its own width.
    pub fn signed(&self, position: usize) -> Result<i64, Fault> {
        let (value, bits) = bits_of(self.argument(position)?)?;
        Ok(sign_extend(value, bits) as i64)
    }

    /// The low 32 bits: an `int`, whatever the caller declared.
    pub fn int(&self, position: usize) -> Result<i32, Fault> {
        Ok(bits_of(self.argument(position)?)?.0 as i32)
    }

    /// `long` and `size_t` have the width of a pointer on all supported targets.
    pub fn long_bits(&self) -> u32 {
        self.environment.layout().pointer_bits()
    }

    pub fn set_errno(&mut self, number: i32) -> Result<(), Fault> {
        let place = self.environment.errno();
        self.environment.store(place, &Value::integer(32, number as u32 as u128), Type::integer(32))
    }

    /// An integer result, cut to the width of the return type.
    pub fn integer(&self, value: i128) -> Outcome {
        Ok(BuiltinResult::Return(match self.return_type {
            Type::Void => None,
            Type::Scalar(Scalar::Integer(bits)) => Some(Value::integer(bits, value as u128)),
            Type::Scalar(Scalar::Pointer) => Some(Value::pointer(self.environment.resolve(value as u64))),
            other => {
                return Err(Fault::Undefined {
                    what: format!("a library function that returns an integer, declared as {other:?}"),
                });
            }
        }))
    }

    pub fn pointer_result(&self, pointer: Pointer) -> Outcome {
        match self.return_type {
            Type::Scalar(Scalar::Pointer) => Ok(BuiltinResult::Return(Some(Value::pointer(pointer)))),
            _ => self.integer(pointer.address as i128),
        }
    }

    pub fn nothing(&self) -> Outcome {
        Ok(BuiltinResult::Return(None))
    }

    /// Stores a pointer unless the place is null.
    pub fn store_pointer(&mut self, place: Pointer, value: Pointer) -> Result<(), Fault> {
        if place.is_null() { Ok(()) } else { self.environment.store(place, &Value::pointer(value), Type::POINTER) }
    }

    pub fn load_pointer(&mut self, place: Pointer) -> Result<Pointer, Fault> {
        let value = self.environment.load(place, Type::POINTER)?;
        pointer_of(self.environment, &value)
    }

    pub fn store_integer(&mut self, place: Pointer, bits: u32, value: i128) -> Result<(), Fault> {
        self.environment.store(place, &Value::integer(bits, value as u128), Type::integer(bits))
    }

    pub fn load_integer(&mut self, place: Pointer, bits: u32) -> Result<u64, Fault> {
        let value = self.environment.load(place, Type::integer(bits))?;
        Ok(bits_of(&value)?.0 as u64)
    }
}

/// The pointer in a value; an integer is looked up by its address.
pub fn pointer_of(environment: &dyn Environment, value: &Value) -> Result<Pointer, Fault> {
    match value {
        Value::Scalar(ScalarValue::Pointer(pointer)) => Ok(*pointer),
        other => Ok(environment.resolve(bits_of(other)?.0 as u64)),
    }
}

/// The bits of a scalar and how many there are; an undefined value is 0.
pub fn bits_of(value: &Value) -> Result<(u128, u32), Fault> {
    match value {
        Value::Scalar(ScalarValue::Integer { bits, value }) => Ok((*value, *bits)),
        Value::Scalar(ScalarValue::Pointer(pointer)) => Ok((u128::from(pointer.address), 64)),
        Value::Scalar(ScalarValue::Float { kind, bits }) => Ok((*bits, float_bits(*kind))),
        Value::Scalar(ScalarValue::Undef(_) | ScalarValue::Poison(_)) => Ok((0, 64)),
        Value::Scalar(ScalarValue::WideInteger { bits, .. }) => {
            Err(Fault::Undefined { what: format!("a library call with an argument of {bits} bits") })
        }
        Value::Vector(_) | Value::Aggregate(_) => {
            Err(Fault::Undefined { what: "a library call with a vector or struct argument".to_owned() })
        }
    }
}

fn float_bits(kind: Scalar) -> u32 {
    match kind {
        Scalar::Half | Scalar::BFloat => 16,
        Scalar::Float => 32,
        Scalar::X86Fp80 => 80,
        Scalar::Fp128 => 128,
        Scalar::Double | Scalar::Integer(_) | Scalar::Pointer => 64,
    }
}

pub fn sign_extend(value: u128, bits: u32) -> i128 {
    let unused = 128 - bits.clamp(1, 128);
    ((value << unused) as i128) >> unused
}

/// `pointer + bytes`, in the same object.
pub fn offset(pointer: Pointer, bytes: u64) -> Pointer {
    Pointer { address: pointer.address.wrapping_add(bytes), object: pointer.object }
}
