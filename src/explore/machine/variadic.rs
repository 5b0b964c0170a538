//! Variadic arguments as the x86 calling conventions lay them out, because compiled code walks through them itself.
//!
//! x86-64 (System V): `va_list` is `{ gp_offset, fp_offset, overflow_arg_area, reg_save_area }`; the register save area has 6 general
//! registers of 8 bytes, then 8 vector registers of 16. i386: `va_list` is a pointer that walks over stack slots of 4 bytes.

use crate::explore::environment::Environment;
use crate::explore::fault::Fault;
use crate::explore::value::{Pointer, ScalarValue, Value};
use crate::program::function::ByValue;
use crate::program::{DataLayout, Scalar, Type};

const GENERAL_BYTES: u64 = 6 * 8;
pub const SAVE_AREA_BYTES: u64 = GENERAL_BYTES + 8 * 16;
/// Offsets of the fields of the x86-64 `va_list`.
const FP_OFFSET: u64 = 4;
const OVERFLOW_AREA: u64 = 8;
const SAVE_AREA: u64 = 16;

/// Where the calling convention puts a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    /// General registers of 8 bytes.
    General(u64),
    Vector,
    /// The stack, always.
    Memory {
        align: u64,
    },
}

fn classify(ty: Type, layout: &DataLayout) -> Class {
    match ty {
        Type::Scalar(Scalar::Integer(bits)) if bits <= 64 => Class::General(1),
        Type::Scalar(Scalar::Integer(bits)) if bits <= 128 => Class::General(2),
        Type::Scalar(Scalar::Pointer) => Class::General(1),
        Type::Scalar(Scalar::Integer(_)) => Class::Memory { align: 8 },
        Type::Scalar(Scalar::X86Fp80) => Class::Memory { align: 16 },
        Type::Scalar(Scalar::Half | Scalar::BFloat | Scalar::Float | Scalar::Double | Scalar::Fp128) => Class::Vector,
        Type::Vector { .. } if layout.store_bytes(ty) <= 16 => Class::Vector,
        Type::Vector { .. } => Class::Memory { align: layout.store_bytes(ty).next_power_of_two() },
        Type::Aggregate { .. } | Type::Void => Class::Memory { align: 8 },
    }
}

/// The alignment of a value on the stack when it has run out of registers.
fn stack_align(ty: Type, layout: &DataLayout) -> u64 {
    match classify(ty, layout) {
        Class::Memory { align } => align,
        Class::General(2) => 16,
        Class::General(_) => 8,
        Class::Vector if layout.store_bytes(ty) > 8 => 16,
        Class::Vector => 8,
    }
}

/// The bytes a value takes on the stack, before rounding to slots.
fn stack_size(ty: Type, layout: &DataLayout) -> u64 {
    match ty {
        Type::Scalar(Scalar::X86Fp80) if layout.pointer_bytes == 4 => 12,
        Type::Scalar(Scalar::X86Fp80) => 16,
        other => layout.store_bytes(other),
    }
}

/// On i386 nothing but vectors is aligned beyond a slot.
fn narrow_align(ty: Type, layout: &DataLayout) -> u64 {
    match ty {
        Type::Vector { .. } | Type::Scalar(Scalar::Fp128) => layout.store_bytes(ty).next_power_of_two().clamp(4, 16),
        _ => 4,
    }
}

/// An argument list that a library function walks through (`vprintf`).
#[derive(Clone, Copy, Debug)]
pub enum ArgumentList {
    /// The address of a `va_list` that is advanced in memory.
    InMemory(Pointer),
    /// i386: a `va_list` passed by value.
    Cursor(Pointer),
}

impl ArgumentList {
    /// A `va_list` as it arrives in a parameter: x86-64 passes its address, i386 the pointer itself.
    pub fn from_parameter(passed: Pointer, layout: &DataLayout) -> ArgumentList {
        if layout.pointer_bytes == 4 { ArgumentList::Cursor(passed) } else { ArgumentList::InMemory(passed) }
    }

    /// The next argument, as a value of this type.
    pub fn next(&mut self, environment: &mut dyn Environment, ty: Type) -> Result<Value, Fault> {
        match self {
            ArgumentList::InMemory(list) => next(environment, *list, ty),
            ArgumentList::Cursor(cursor) => next_in_slots(environment, cursor, ty),
        }
    }
}

/// The next argument of the `va_list` at this address (`va_arg`).
pub fn next(environment: &mut dyn Environment, list: Pointer, ty: Type) -> Result<Value, Fault> {
    if environment.layout().pointer_bytes == 4 {
        let mut cursor = load_pointer(environment, list)?;
        let value = next_in_slots(environment, &mut cursor, ty)?;
        environment.store(list, &Value::pointer(cursor), Type::POINTER)?;
        return Ok(value);
    }
    let class = classify(ty, environment.layout());
    let (offset_field, needed, limit) = match class {
        Class::General(registers) => (0, registers * 8, GENERAL_BYTES),
        Class::Vector => (FP_OFFSET, 16, SAVE_AREA_BYTES),
        Class::Memory { .. } => return next_in_overflow(environment, list, ty),
    };
    let offset = load_u32(environment, at(list, offset_field))?;
    if offset + needed > limit {
        return next_in_overflow(environment, list, ty);
    }
    let save_area = load_pointer(environment, at(list, SAVE_AREA))?;
    let value = environment.load(at(save_area, offset), ty)?;
    let advanced = Value::integer(32, u128::from(offset + needed));
    environment.store(at(list, offset_field), &advanced, Type::integer(32))?;
    Ok(value)
}

fn next_in_overflow(environment: &mut dyn Environment, list: Pointer, ty: Type) -> Result<Value, Fault> {
    let area = load_pointer(environment, at(list, OVERFLOW_AREA))?;
    let layout = environment.layout();
    let (align, size) = (stack_align(ty, layout), stack_size(ty, layout));
    let aligned = Pointer { address: area.address.next_multiple_of(align), ..area };
    let value = environment.load(aligned, ty)?;
    let advanced = at(aligned, size.next_multiple_of(8));
    environment.store(at(list, OVERFLOW_AREA), &Value::pointer(advanced), Type::POINTER)?;
    Ok(value)
}

fn next_in_slots(environment: &mut dyn Environment, cursor: &mut Pointer, ty: Type) -> Result<Value, Fault> {
    let layout = environment.layout();
    let (align, size) = (narrow_align(ty, layout), stack_size(ty, layout));
    let aligned = Pointer { address: cursor.address.next_multiple_of(align), ..*cursor };
    *cursor = at(aligned, size.next_multiple_of(4));
    environment.load(aligned, ty)
}

fn at(pointer: Pointer, offset: u64) -> Pointer {
    Pointer { address: pointer.address.wrapping_add(offset), ..pointer }
}

fn load_pointer(environment: &mut dyn Environment, address: Pointer) -> Result<Pointer, Fault> {
    match environment.load(address, Type::POINTER)? {
        Value::Scalar(ScalarValue::Pointer(pointer)) => Ok(pointer),
        other => Err(Fault::Undefined { what: format!("a variadic argument list holds {other:?} where a pointer stands") }),
    }
}

fn load_u32(environment: &mut dyn Environment, address: Pointer) -> Result<u64, Fault> {
    match environment.load(address, Type::integer(32))? {
        Value::Scalar(ScalarValue::Integer { value, .. }) => Ok(value as u64),
        other => Err(Fault::Undefined { what: format!("a variadic argument list holds {other:?} where an offset stands") }),
    }
}

/// A variadic argument of a call: its value and type, or the bytes to copy when it is passed by value in memory.
#[derive(Clone, Debug)]
pub struct VariadicArgument {
    pub value: Value,
    pub ty: Type,
    pub by_value: Option<ByValue>,
}

/// Where each variadic argument of a call goes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Placement {
    /// Offset in the save area or the overflow area, per argument.
    pub positions: Vec<Position>,
    pub overflow_bytes: u64,
    pub gp_offset: u64,
    pub fp_offset: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Position {
    SaveArea(u64),
    Overflow(u64),
}

/// Lays out the variadic arguments of a call whose fixed parameters have these types (`None`: by value in memory).
pub fn place(fixed: &[Option<Type>], variadic: &[VariadicArgument], layout: &DataLayout) -> Placement {
    if layout.pointer_bytes == 4 {
        return place_in_slots(variadic, layout);
    }
    let mut registers = Registers::default();
    for ty in fixed.iter().flatten() {
        registers.take(classify(*ty, layout));
    }
    let mut placement =
        Placement { gp_offset: registers.general * 8, fp_offset: GENERAL_BYTES + registers.vector * 16, ..Placement::default() };
    for argument in variadic {
        let register = match argument.by_value {
            Some(_) => None,
            None => registers.take(classify(argument.ty, layout)),
        };
        let position = match register {
            Some(offset) => Position::SaveArea(offset),
            None => {
                let (align, size) = match argument.by_value {
                    Some(copy) => (copy.align.max(8), copy.size),
                    None => (stack_align(argument.ty, layout), stack_size(argument.ty, layout)),
                };
                placement.overflow(align, size.next_multiple_of(8))
            }
        };
        placement.positions.push(position);
    }
    placement
}

fn place_in_slots(variadic: &[VariadicArgument], layout: &DataLayout) -> Placement {
    let mut placement = Placement::default();
    for argument in variadic {
        let (align, size) = match argument.by_value {
            Some(copy) => (4, copy.size),
            None => (narrow_align(argument.ty, layout), stack_size(argument.ty, layout)),
        };
        let position = placement.overflow(align, size.next_multiple_of(4));
        placement.positions.push(position);
    }
    placement
}

impl Placement {
    fn overflow(&mut self, align: u64, size: u64) -> Position {
        let offset = self.overflow_bytes.next_multiple_of(align);
        self.overflow_bytes = offset + size;
        Position::Overflow(offset)
    }
}

/// Registers used up so far.
#[derive(Default)]
struct Registers {
    general: u64,
    vector: u64,
}

impl Registers {
    /// The offset in the save area, when registers are left.
    fn take(&mut self, class: Class) -> Option<u64> {
        match class {
            Class::General(count) if self.general + count <= 6 => {
                self.general += count;
                Some((self.general - count) * 8)
            }
            Class::Vector if self.vector < 8 => {
                self.vector += 1;
                Some(GENERAL_BYTES + (self.vector - 1) * 16)
            }
            Class::General(_) | Class::Vector | Class::Memory { .. } => None,
        }
    }
}
