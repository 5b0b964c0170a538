//! Values as bytes and back: little-endian, vector lanes packed without padding down to single bits.

use super::Memory;
use crate::explore::value::{Bytes, Pointer, ScalarValue, Value, truncate};
use crate::program::{DataLayout, Scalar, Type};

/// The bytes that a store of this value writes.
pub fn encode(layout: &DataLayout, value: &Value) -> Bytes {
    match value {
        Value::Aggregate(bytes) => (**bytes).clone(),
        Value::Scalar(scalar) => {
            let mut bytes = Bytes::zero(layout.scalar_bytes(scalar.kind()));
            encode_scalar(layout, scalar, 0, &mut bytes);
            bytes
        }
        Value::Vector(lanes) => {
            let mut bytes = Bytes::zero(layout.store_bytes(value.type_of()));
            let bits = layout.scalar_bits(lanes[0].kind());
            if bits.is_multiple_of(8) {
                for (index, lane) in lanes.iter().enumerate() {
                    encode_scalar(layout, lane, index * (bits / 8) as usize, &mut bytes);
                }
            } else {
                encode_packed(lanes, bits as usize, &mut bytes);
            }
            bytes
        }
    }
}

/// Writes a scalar's bytes at `offset`; `bytes` is defined and zero there.
fn encode_scalar(layout: &DataLayout, scalar: &ScalarValue, offset: usize, bytes: &mut Bytes) {
    let range = offset..offset + layout.scalar_bytes(scalar.kind()) as usize;
    let number = match scalar {
        ScalarValue::Integer { value, .. } => *value,
        ScalarValue::Float { bits, .. } => *bits,
        ScalarValue::Pointer(pointer) => {
            bytes.pointers.extend(pointer.object.map(|object| (offset as u64, object)));
            u128::from(pointer.address)
        }
        ScalarValue::WideInteger { words, .. } => {
            let data = words.iter().flat_map(|word| word.to_le_bytes());
            bytes.data[range].iter_mut().zip(data).for_each(|(target, byte)| *target = byte);
            return;
        }
        ScalarValue::Undef(_) | ScalarValue::Poison(_) => return bytes.defined[range].fill(false),
    };
    let size = range.len();
    bytes.data[range].copy_from_slice(&number.to_le_bytes()[..size]);
}

/// Lanes of integers whose width is no multiple of 8. A byte is undefined when all lanes in it are.
fn encode_packed(lanes: &[ScalarValue], bits: usize, bytes: &mut Bytes) {
    let mut is_defined = vec![false; bytes.data.len()];
    for (index, lane) in lanes.iter().enumerate() {
        for bit in 0..bits {
            let at = index * bits + bit;
            is_defined[at / 8] |= !lane.is_undefined();
            bytes.data[at / 8] |= u8::from(lane_bit(lane, bit)) << (at % 8);
        }
    }
    bytes.defined = is_defined;
}

fn lane_bit(lane: &ScalarValue, bit: usize) -> bool {
    match lane {
        ScalarValue::Integer { value, .. } => value >> bit & 1 == 1,
        ScalarValue::WideInteger { words, .. } => words[bit / 64] >> (bit % 64) & 1 == 1,
        _ => false,
    }
}

/// The value of a type whose bytes stand at `offset`; pointers without provenance are looked up in `memory`.
pub fn decode(memory: &Memory, bytes: &Bytes, offset: u64, ty: Type) -> Value {
    let layout = memory.layout();
    match ty {
        Type::Void => panic!("void has no values"),
        Type::Aggregate { size } => Value::Aggregate(Box::new(bytes.slice(offset, size, layout.pointer_bytes))),
        Type::Scalar(scalar) => Value::Scalar(decode_scalar(memory, bytes, offset as usize, scalar)),
        Type::Vector { lanes, element } => {
            let bits = layout.scalar_bits(element);
            let lane = |index: u32| match (bits % 8, element) {
                (0, _) => decode_scalar(memory, bytes, offset as usize + (index * (bits / 8)) as usize, element),
                (_, Scalar::Integer(_)) => decode_packed(bytes, offset as usize, (index * bits) as usize, bits),
                _ => unreachable!("only integers have a width that is no multiple of 8"),
            };
            Value::Vector((0..lanes).map(lane).collect())
        }
    }
}

fn decode_scalar(memory: &Memory, bytes: &Bytes, offset: usize, scalar: Scalar) -> ScalarValue {
    let size = memory.layout().scalar_bytes(scalar) as usize;
    let range = offset..offset + size;
    if bytes.defined[range.clone()].iter().all(|defined| !defined) {
        return ScalarValue::Undef(scalar);
    }
    let data: Vec<u8> = range.map(|at| if bytes.defined[at] { bytes.data[at] } else { 0 }).collect();
    if let Scalar::Integer(bits) = scalar
        && bits > 128
    {
        return wide(bits, data.into_iter());
    }
    let mut number = [0; 16];
    number[..size].copy_from_slice(&data);
    let number = u128::from_le_bytes(number);
    match scalar {
        Scalar::Integer(bits) => ScalarValue::Integer { bits, value: truncate(number, bits) },
        Scalar::Pointer => {
            let known = bytes.pointers.binary_search_by_key(&(offset as u64), |(at, _)| *at);
            ScalarValue::Pointer(match known {
                Ok(position) => Pointer { address: number as u64, object: Some(bytes.pointers[position].1) },
                Err(_) => memory.pointer_to(number as u64),
            })
        }
        kind => ScalarValue::Float { kind, bits: number },
    }
}

fn decode_packed(bytes: &Bytes, offset: usize, first_bit: usize, bits: u32) -> ScalarValue {
    let bit_range = first_bit..first_bit + bits as usize;
    if bit_range.clone().all(|bit| !bytes.defined[offset + bit / 8]) {
        return ScalarValue::Undef(Scalar::Integer(bits));
    }
    let bit_at = |bit: usize| bytes.data[offset + bit / 8] >> (bit % 8) & 1;
    let mut lane_bytes = vec![0u8; bits.div_ceil(8) as usize];
    for (index, bit) in bit_range.enumerate() {
        lane_bytes[index / 8] |= bit_at(bit) << (index % 8);
    }
    if bits > 128 {
        return wide(bits, lane_bytes.into_iter());
    }
    let mut number = [0; 16];
    number[..lane_bytes.len()].copy_from_slice(&lane_bytes);
    ScalarValue::Integer { bits, value: u128::from_le_bytes(number) }
}

/// An integer of more than 128 bits from its little-endian bytes.
fn wide(bits: u32, data: impl Iterator<Item = u8>) -> ScalarValue {
    let mut words = vec![0u64; bits.div_ceil(64) as usize];
    for (at, byte) in data.enumerate() {
        words[at / 8] |= u64::from(byte) << (at % 8 * 8);
    }
    if !bits.is_multiple_of(64)
        && let Some(top) = words.last_mut()
    {
        *top &= (1 << (bits % 64)) - 1;
    }
    ScalarValue::WideInteger { bits, words: words.into() }
}
