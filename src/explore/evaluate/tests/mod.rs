//! Tests of evaluation: integers against big numbers, floats against the processor, the rest by example.

mod floats;
mod integers;
mod shapes;

use super::*;
use crate::explore::memory::Memory;
use crate::program::DataLayout;

fn memory() -> Memory {
    Memory::new(&DataLayout::default())
}

/// Deterministic numbers, with the edges of a range far more often than chance would have them.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        // xorshift*, good enough to spread test inputs.
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// Little-endian words of an integer of `bits` bits.
    fn words(&mut self, bits: u32) -> Vec<u64> {
        let count = bits.div_ceil(64) as usize;
        let mut words = match self.below(6) {
            0 => vec![0; count],
            1 => vec![u64::MAX; count],
            2 => {
                let mut words = vec![0; count];
                words[0] = self.below(12);
                words
            }
            // The least signed number, and the greatest.
            3 => {
                let mut words = vec![0; count];
                words[(bits as usize - 1) / 64] = 1 << ((bits - 1) % 64);
                words
            }
            4 => {
                let mut words = vec![u64::MAX; count];
                words[(bits as usize - 1) / 64] = (1 << ((bits - 1) % 64)) - 1;
                words
            }
            _ => (0..count).map(|_| self.next()).collect(),
        };
        if !bits.is_multiple_of(64) {
            words[count - 1] &= (1 << (bits % 64)) - 1;
        }
        words
    }
}

fn value_of(bits: u32, words: &[u64]) -> Value {
    Value::Scalar(if bits > 128 {
        ScalarValue::WideInteger { bits, words: words.into() }
    } else {
        let high = words.get(1).copied().unwrap_or(0);
        ScalarValue::Integer { bits, value: u128::from(words[0]) | u128::from(high) << 64 }
    })
}
