//! Where a formatted function takes its arguments from: the call itself, or a `va_list` in memory.

use super::call::{Call, pointer_of};
use crate::explore::fault::Fault;
use crate::explore::machine::variadic::ArgumentList;
use crate::explore::value::{Pointer, ScalarValue, Value};
use crate::program::{Scalar, Type};

#[derive(Clone, Copy, Debug)]
pub enum Arguments {
    /// The next one by its position in the call.
    Direct(usize),
    List(ArgumentList),
}

impl Arguments {
    /// The `va_list` that stands at this position of the call.
    pub fn list(call: &Call, position: usize) -> Result<Arguments, Fault> {
        let passed = call.pointer(position)?;
        Ok(Arguments::List(ArgumentList::from_parameter(passed, call.environment.layout())))
    }

    pub fn next(&mut self, call: &mut Call, ty: Type) -> Result<Value, Fault> {
        match self {
            Arguments::Direct(position) => {
                let missing = || Fault::Undefined { what: "a format with more directives than arguments".to_owned() };
                let value = call.arguments.get(*position).ok_or_else(missing)?;
                *position += 1;
                check(value, ty)?;
                Ok(value.clone())
            }
            Arguments::List(list) => list.next(call.environment, ty),
        }
    }

    pub fn next_pointer(&mut self, call: &mut Call) -> Result<Pointer, Fault> {
        let value = self.next(call, Type::POINTER)?;
        pointer_of(call.environment, &value)
    }
}

/// A number where a floating-point number is wanted, or the other way round, is undefined behaviour that shows.
fn check(value: &Value, ty: Type) -> Result<(), Fault> {
    let wants_float = ty.element().is_some_and(Scalar::is_float);
    let matches = match value {
        Value::Scalar(ScalarValue::Float { kind, .. }) => ty == Type::Scalar(*kind),
        Value::Scalar(ScalarValue::Undef(_) | ScalarValue::Poison(_)) => true,
        Value::Scalar(_) => !wants_float,
        Value::Vector(_) | Value::Aggregate(_) => false,
    };
    if matches { Ok(()) } else { Err(Fault::Undefined { what: "a format whose directive does not fit its argument".to_owned() }) }
}
