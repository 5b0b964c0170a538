//! Constants as values.

use crate::explore::memory::encode;
use crate::explore::value::{Bytes, Pointer, ScalarValue, Value};
use crate::program::{BlockId, Constant, ConstantId, FunctionId, GlobalId, Program};

/// Where a run has put what constants name.
pub trait Addresses {
    fn global(&self, global: GlobalId) -> Pointer;
    fn function(&self, function: FunctionId) -> Pointer;
    fn block(&self, function: FunctionId, block: BlockId) -> Pointer;
}

/// The value of a constant; always the same one in a run, so it may be computed once.
pub fn constant(program: &Program, id: ConstantId, addresses: &impl Addresses) -> Value {
    match &program.constants[id] {
        Constant::Integer { bits, value } => Value::integer(*bits, *value),
        Constant::WideInteger { bits, words } => {
            let mut words = words.clone();
            words.resize(bits.div_ceil(64) as usize, 0);
            Value::Scalar(ScalarValue::WideInteger { bits: *bits, words: words.into() })
        }
        Constant::Float { kind, bits } => Value::Scalar(ScalarValue::Float { kind: *kind, bits: *bits }),
        Constant::Null => Value::pointer(Pointer::NULL),
        Constant::Undef(ty) => Value::undef(*ty),
        Constant::Poison(ty) => Value::poison(*ty),
        Constant::Zero(ty) => Value::zero(*ty),
        Constant::Global(global) => Value::pointer(addresses.global(*global)),
        Constant::Function(function) => Value::pointer(addresses.function(*function)),
        Constant::Block(function, block) => Value::pointer(addresses.block(*function, *block)),
        Constant::Vector { lanes, .. } => {
            let lane = |lane: &ConstantId| match constant(program, *lane, addresses) {
                Value::Scalar(scalar) => scalar,
                other => panic!("a lane of a constant vector is a scalar, not {:?}", other.type_of()),
            };
            Value::Vector(lanes.iter().map(lane).collect())
        }
        Constant::Aggregate { size, elements } => {
            let mut bytes = Bytes::undefined(*size);
            for (offset, element) in elements {
                let part = encode(&program.layout, &constant(program, *element, addresses));
                bytes.replace(*offset, &part, program.layout.pointer_bytes);
            }
            Value::Aggregate(Box::new(bytes))
        }
    }
}
