//! Vectors lane by lane: mapping, selecting, extracting, inserting, shuffling, freezing.

use super::{as_u128, truth};
use crate::explore::fault::Fault;
use crate::explore::value::{Bytes, ScalarValue, Value};

/// Applies a function to a scalar or to each lane.
pub(super) fn map(value: &Value, f: impl Fn(&ScalarValue) -> Result<ScalarValue, Fault>) -> Result<Value, Fault> {
    match value {
        Value::Scalar(scalar) => f(scalar).map(Value::Scalar),
        Value::Vector(lanes) => lanes.iter().map(f).collect::<Result<_, _>>().map(Value::Vector),
        Value::Aggregate(_) => Err(Fault::undefined("arithmetic on an aggregate")),
    }
}

/// Applies a function to two scalars or to each pair of lanes; a scalar beside a vector stands for every lane.
pub(super) fn map2(
    left: &Value,
    right: &Value,
    f: impl Fn(&ScalarValue, &ScalarValue) -> Result<ScalarValue, Fault>,
) -> Result<Value, Fault> {
    match (left, right) {
        (Value::Scalar(left), Value::Scalar(right)) => f(left, right).map(Value::Scalar),
        (Value::Vector(left), Value::Vector(right)) if left.len() == right.len() => {
            left.iter().zip(right).map(|(l, r)| f(l, r)).collect::<Result<_, _>>().map(Value::Vector)
        }
        (Value::Vector(_), Value::Scalar(right)) => map(left, |left| f(left, right)),
        (Value::Scalar(left), Value::Vector(_)) => map(right, |right| f(left, right)),
        _ => Err(Fault::undefined("an operation on values of different shapes")),
    }
}

/// The lanes of a vector; a scalar is one.
pub(super) fn lanes(value: &Value) -> Result<&[ScalarValue], Fault> {
    match value {
        Value::Vector(lanes) => Ok(lanes),
        Value::Scalar(scalar) => Ok(std::slice::from_ref(scalar)),
        Value::Aggregate(_) => Err(Fault::undefined("an aggregate where a vector is expected")),
    }
}

/// By one condition, or lane by lane. An undef condition is false; a poison one makes poison.
pub fn select(condition: &Value, when_true: &Value, when_false: &Value) -> Result<Value, Fault> {
    match condition {
        Value::Scalar(ScalarValue::Poison(_)) => Ok(Value::poison(when_true.type_of())),
        Value::Scalar(_) => Ok(if truth(condition) { when_true.clone() } else { when_false.clone() }),
        Value::Vector(bits) => {
            let (when_true, when_false) = (lanes(when_true)?, lanes(when_false)?);
            if bits.len() != when_true.len() || bits.len() != when_false.len() {
                return Err(Fault::undefined("a select between vectors of different lengths"));
            }
            let choose = |index: usize| match &bits[index] {
                ScalarValue::Poison(_) => ScalarValue::Poison(when_true[index].kind()),
                ScalarValue::Integer { value: 1, .. } => when_true[index].clone(),
                _ => when_false[index].clone(),
            };
            Ok(Value::Vector((0..bits.len()).map(choose).collect()))
        }
        Value::Aggregate(_) => Err(Fault::undefined("an aggregate as a condition")),
    }
}

/// A lane past the end, or at a poison index, is poison.
pub fn extract_lane(vector: &Value, lane: &Value) -> Result<Value, Fault> {
    let all = lanes(vector)?;
    let picked = index(lane)?.and_then(|index| all.get(index));
    Ok(Value::Scalar(picked.cloned().unwrap_or_else(|| ScalarValue::Poison(all[0].kind()))))
}

/// At a lane past the end, or at a poison index, the whole vector is poison.
pub fn insert_lane(vector: &Value, value: &Value, lane: &Value) -> Result<Value, Fault> {
    let (mut all, Value::Scalar(value)) = (lanes(vector)?.to_vec(), value) else {
        return Err(Fault::undefined("a lane that is no scalar"));
    };
    match index(lane)?.and_then(|index| all.get_mut(index)) {
        Some(slot) => *slot = value.clone(),
        None => return Ok(Value::poison(vector.type_of())),
    }
    Ok(Value::Vector(all.into()))
}

fn index(lane: &Value) -> Result<Option<usize>, Fault> {
    if matches!(lane, Value::Scalar(ScalarValue::Poison(_))) {
        return Ok(None);
    }
    Ok(usize::try_from(as_u128(lane)?).ok())
}

/// Lanes of `left`, then `right`, picked by `mask`; `None` is poison.
pub fn shuffle(left: &Value, right: &Value, mask: &[Option<u32>]) -> Result<Value, Fault> {
    let (left, right) = (lanes(left)?, lanes(right)?);
    let kind = left[0].kind();
    let pick = |lane: &Option<u32>| {
        let lane = lane.map(|lane| lane as usize);
        let found = lane.and_then(|lane| left.iter().chain(right).nth(lane));
        found.cloned().unwrap_or(ScalarValue::Poison(kind))
    };
    Ok(Value::Vector(mask.iter().map(pick).collect()))
}

/// Undef and poison become 0.
pub fn freeze(value: &Value) -> Result<Value, Fault> {
    match value {
        Value::Scalar(_) | Value::Vector(_) => {
            map(value, |lane| Ok(if lane.is_undefined() { ScalarValue::zero(lane.kind()) } else { lane.clone() }))
        }
        Value::Aggregate(bytes) => {
            let Bytes { data, defined, pointers } = &**bytes;
            let data = data.iter().zip(defined).map(|(byte, defined)| if *defined { *byte } else { 0 }).collect();
            let defined = vec![true; defined.len()];
            Ok(Value::Aggregate(Box::new(Bytes { data, defined, pointers: pointers.clone() })))
        }
    }
}
