//! Integer functions of more than 128 bits, by big numbers.

use num_bigint::{BigInt, BigUint};

use crate::explore::evaluate::wide::{fits, from_signed, from_unsigned, range, signed, unsigned};
use crate::explore::fault::Fault;
use crate::explore::value::ScalarValue;
use crate::program::{Intrinsic, Scalar};

/// As [`super::integer::integer`].
pub(super) fn integer(function: Intrinsic, arguments: &[&ScalarValue], bits: u32, result: Scalar) -> Result<ScalarValue, Fault> {
    let missing = || Fault::undefined("an intrinsic with too few arguments");
    let at = |index: usize| arguments.get(index).copied().ok_or_else(missing);
    let Scalar::Integer(result_bits) = result else {
        return Err(Fault::undefined(format!("{function:?} to {result:?}")));
    };
    let left = unsigned(at(0)?)?;
    let zero = BigUint::from(0u32);
    let poison = Ok(ScalarValue::Poison(result));
    let count = |number: u64| from_unsigned(result_bits, &BigUint::from(number));
    let clamp = |value: BigInt, is_signed: bool| {
        let (low, high) = range(bits, is_signed);
        from_signed(bits, &value.clamp(low, high))
    };
    let shift_of = |value: &BigUint| (value % BigUint::from(bits)).to_u64_digits().first().copied().unwrap_or(0);
    Ok(match function {
        Intrinsic::CountOnes => count(left.count_ones()),
        Intrinsic::LeadingZeros | Intrinsic::TrailingZeros if left == zero => {
            if unsigned(at(1)?)? != zero {
                return poison;
            }
            count(u64::from(bits))
        }
        Intrinsic::LeadingZeros => count(u64::from(bits) - left.bits()),
        Intrinsic::TrailingZeros => count(left.trailing_zeros().unwrap_or(u64::from(bits))),
        Intrinsic::ByteSwap => {
            let mut bytes = left.to_bytes_le();
            bytes.resize((bits / 8) as usize, 0);
            from_unsigned(bits, &BigUint::from_bytes_be(&bytes))
        }
        Intrinsic::BitReverse => {
            let mut reversed = zero;
            for bit in 0..u64::from(bits) {
                reversed.set_bit(u64::from(bits) - 1 - bit, left.bit(bit));
            }
            from_unsigned(bits, &reversed)
        }
        Intrinsic::FunnelShiftLeft | Intrinsic::FunnelShiftRight => {
            let both = (left << bits) | unsigned(at(1)?)?;
            let shift = shift_of(&unsigned(at(2)?)?);
            let moved = match function {
                Intrinsic::FunnelShiftLeft => (both << shift) >> bits,
                _ => both >> shift,
            };
            from_unsigned(bits, &moved)
        }
        Intrinsic::Absolute => {
            let value = signed(at(0)?)?;
            if value == range(bits, true).0 && unsigned(at(1)?)? != zero {
                return poison;
            }
            from_unsigned(bits, value.magnitude())
        }
        Intrinsic::SignedMax => from_signed(bits, &signed(at(0)?)?.max(signed(at(1)?)?)),
        Intrinsic::SignedMin => from_signed(bits, &signed(at(0)?)?.min(signed(at(1)?)?)),
        Intrinsic::UnsignedMax => from_unsigned(bits, &left.max(unsigned(at(1)?)?)),
        Intrinsic::UnsignedMin => from_unsigned(bits, &left.min(unsigned(at(1)?)?)),
        Intrinsic::SignedCompare => from_signed(result_bits, &BigInt::from(signed(at(0)?)?.cmp(&signed(at(1)?)?) as i32)),
        Intrinsic::UnsignedCompare => from_signed(result_bits, &BigInt::from(left.cmp(&unsigned(at(1)?)?) as i32)),
        Intrinsic::SaturatingSignedAdd => clamp(signed(at(0)?)? + signed(at(1)?)?, true),
        Intrinsic::SaturatingSignedSubtract => clamp(signed(at(0)?)? - signed(at(1)?)?, true),
        Intrinsic::SaturatingUnsignedAdd => clamp(BigInt::from(left + unsigned(at(1)?)?), false),
        Intrinsic::SaturatingUnsignedSubtract => clamp(BigInt::from(left) - BigInt::from(unsigned(at(1)?)?), false),
        Intrinsic::SaturatingSignedShiftLeft | Intrinsic::SaturatingUnsignedShiftLeft => {
            let shift = unsigned(at(1)?)?;
            if shift >= BigUint::from(bits) {
                return poison;
            }
            match function {
                Intrinsic::SaturatingSignedShiftLeft => clamp(signed(at(0)?)? << shift_of(&shift), true),
                _ => clamp(BigInt::from(left) << shift_of(&shift), false),
            }
        }
        other => return Err(Fault::undefined(format!("{other:?} as an integer function"))),
    })
}

/// As [`super::integer::overflow`].
pub(super) fn overflow(
    function: Intrinsic,
    left: &ScalarValue,
    right: &ScalarValue,
    bits: u32,
) -> Result<(ScalarValue, ScalarValue), Fault> {
    let is_signed =
        matches!(function, Intrinsic::SignedAddOverflow | Intrinsic::SignedSubtractOverflow | Intrinsic::SignedMultiplyOverflow);
    let of = |scalar| if is_signed { signed(scalar) } else { unsigned(scalar).map(BigInt::from) };
    let (left, right) = (of(left)?, of(right)?);
    let exact = match function {
        Intrinsic::SignedAddOverflow | Intrinsic::UnsignedAddOverflow => left + right,
        Intrinsic::SignedSubtractOverflow | Intrinsic::UnsignedSubtractOverflow => left - right,
        Intrinsic::SignedMultiplyOverflow | Intrinsic::UnsignedMultiplyOverflow => left * right,
        other => return Err(Fault::undefined(format!("{other:?} as an overflow function"))),
    };
    Ok((from_signed(bits, &exact), ScalarValue::boolean(!fits(bits, is_signed, &exact))))
}
