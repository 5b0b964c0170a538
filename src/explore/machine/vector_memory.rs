//! Masked loads and stores, gathers and scatters: lane by lane, and only the lanes whose bit is set.

use crate::explore::evaluate;
use crate::explore::fault::Fault;
use crate::explore::value::{Pointer, ScalarValue, Value};
use crate::program::{Operand, Scalar, Type};

use super::turn::{Stop, Turn};

/// A lane that is accessed: its number, its address and its type.
type Lane = (usize, Pointer, Scalar);

impl Turn<'_, '_> {
    pub fn masked_load(&mut self, address: Operand, mask: Operand, otherwise: Operand) -> Result<Value, Stop> {
        let Value::Vector(mut lanes) = self.operand(otherwise).clone() else {
            return Err(Fault::undefined("a masked load of what is no vector").into());
        };
        let chosen = self.chosen_lanes(address, mask, &lanes)?;
        self.act_on(&chosen.iter().map(|lane| lane.1).collect::<Vec<_>>())?;
        for (lane, address, element) in chosen {
            if let Value::Scalar(value) = self.read_value(address, Type::Scalar(element), None)? {
                lanes[lane] = value;
            }
        }
        Ok(Value::Vector(lanes))
    }

    pub fn masked_store(&mut self, address: Operand, mask: Operand, value: Operand) -> Result<(), Stop> {
        let Value::Vector(lanes) = self.operand(value).clone() else {
            return Err(Fault::undefined("a masked store of what is no vector").into());
        };
        let chosen = self.chosen_lanes(address, mask, &lanes)?;
        self.act_on(&chosen.iter().map(|lane| lane.1).collect::<Vec<_>>())?;
        for (lane, address, element) in chosen {
            self.write_value(address, &Value::Scalar(lanes[lane].clone()), Type::Scalar(element), None)?;
        }
        Ok(())
    }

    fn chosen_lanes(&self, address: Operand, mask: Operand, lanes: &[ScalarValue]) -> Result<Vec<Lane>, Fault> {
        let Value::Vector(mask) = self.operand(mask) else {
            return Err(Fault::undefined("a mask that is no vector"));
        };
        let mut chosen = Vec::new();
        for (index, (bit, lane)) in mask.iter().zip(lanes).enumerate() {
            if !matches!(bit, ScalarValue::Integer { value: 1, .. }) {
                continue;
            }
            let element = lane.kind();
            let address = match self.operand(address) {
                Value::Vector(addresses) => evaluate::as_pointer(&Value::Scalar(addresses[index].clone()))?,
                base => evaluate::as_pointer(base)?.plus(index as u64 * self.machine.program.layout.scalar_bytes(element)),
            };
            chosen.push((index, address, element));
        }
        Ok(chosen)
    }
}
