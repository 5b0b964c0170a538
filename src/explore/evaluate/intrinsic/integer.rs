//! Integer functions up to 128 bits; wider ones go to [`super::wide`].

use super::wide;
use crate::explore::evaluate::integer::{fits, maximum, minimum};
use crate::explore::evaluate::number;
use crate::explore::fault::Fault;
use crate::explore::value::{ScalarValue, sign_extend, truncate};
use crate::program::{Intrinsic, Scalar};

fn width(scalar: &ScalarValue) -> Result<u32, Fault> {
    match scalar.kind() {
        Scalar::Integer(bits) => Ok(bits),
        kind => Err(Fault::undefined(format!("an integer function of {kind:?}"))),
    }
}

/// No argument is poison.
pub(super) fn integer(function: Intrinsic, arguments: &[&ScalarValue], result: Scalar) -> Result<ScalarValue, Fault> {
    let missing = || Fault::undefined("an intrinsic with too few arguments");
    let at = |index: usize| arguments.get(index).copied().ok_or_else(missing);
    let bits = width(at(0)?)?;
    if bits > 128 {
        return wide::integer(function, arguments, bits, result);
    }
    let left = number(at(0)?)?;
    let right = || number(at(1)?);
    let signed = |value| sign_extend(value, bits);
    let mask = truncate(u128::MAX, bits);
    let poison = Ok(ScalarValue::Poison(result));
    let value = match function {
        Intrinsic::CountOnes => u128::from(left.count_ones()),
        Intrinsic::LeadingZeros | Intrinsic::TrailingZeros if left == 0 => {
            if right()? != 0 {
                return poison;
            }
            u128::from(bits)
        }
        Intrinsic::LeadingZeros => u128::from(left.leading_zeros() - (128 - bits)),
        Intrinsic::TrailingZeros => u128::from(left.trailing_zeros()),
        Intrinsic::ByteSwap => left.swap_bytes() >> (128 - bits),
        Intrinsic::BitReverse => left.reverse_bits() >> (128 - bits),
        Intrinsic::FunnelShiftLeft | Intrinsic::FunnelShiftRight => {
            let (high, low) = (left, right()?);
            let shift = (number(at(2)?)? % u128::from(bits)) as u32;
            let (up, down) = match function {
                Intrinsic::FunnelShiftLeft => (shift, bits - shift),
                _ => (bits - shift, shift),
            };
            high.checked_shl(up).unwrap_or(0) | low.checked_shr(down).unwrap_or(0)
        }
        Intrinsic::Absolute => {
            if signed(left) == minimum(bits) && right()? != 0 {
                return poison;
            }
            signed(left).unsigned_abs()
        }
        Intrinsic::SignedMax => signed(left).max(signed(right()?)) as u128,
        Intrinsic::SignedMin => signed(left).min(signed(right()?)) as u128,
        Intrinsic::UnsignedMax => left.max(right()?),
        Intrinsic::UnsignedMin => left.min(right()?),
        Intrinsic::SignedCompare => signed(left).cmp(&signed(right()?)) as i128 as u128,
        Intrinsic::UnsignedCompare => left.cmp(&right()?) as i128 as u128,
        Intrinsic::SaturatingSignedAdd => {
            signed(left).saturating_add(signed(right()?)).clamp(minimum(bits), maximum(bits)) as u128
        }
        Intrinsic::SaturatingUnsignedAdd => left.saturating_add(right()?).min(mask),
        Intrinsic::SaturatingSignedSubtract => {
            signed(left).saturating_sub(signed(right()?)).clamp(minimum(bits), maximum(bits)) as u128
        }
        Intrinsic::SaturatingUnsignedSubtract => left.saturating_sub(right()?),
        Intrinsic::SaturatingSignedShiftLeft | Intrinsic::SaturatingUnsignedShiftLeft => {
            let shift = right()?;
            if shift >= u128::from(bits) {
                return poison;
            }
            let shifted = truncate(left << shift, bits);
            match function {
                Intrinsic::SaturatingUnsignedShiftLeft if shifted >> shift == left => shifted,
                Intrinsic::SaturatingUnsignedShiftLeft => mask,
                _ if signed(shifted) >> shift == signed(left) => shifted,
                _ if signed(left) < 0 => minimum(bits) as u128,
                _ => maximum(bits) as u128,
            }
        }
        other => return Err(Fault::undefined(format!("{other:?} as an integer function"))),
    };
    match result {
        Scalar::Integer(bits) if bits <= 128 => Ok(ScalarValue::integer(bits, value)),
        kind => Err(Fault::undefined(format!("{function:?} to {kind:?}"))),
    }
}

/// The wrapped result, and one bit: whether it wrapped.
pub(super) fn overflow(
    function: Intrinsic,
    left: &ScalarValue,
    right: &ScalarValue,
) -> Result<(ScalarValue, ScalarValue), Fault> {
    let bits = width(left)?;
    if left.is_poison() || right.is_poison() {
        return Ok((ScalarValue::Poison(left.kind()), ScalarValue::Poison(Scalar::Integer(1))));
    }
    if bits > 128 {
        return wide::overflow(function, left, right, bits);
    }
    let (left, right) = (number(left)?, number(right)?);
    let (signed_left, signed_right) = (sign_extend(left, bits), sign_extend(right, bits));
    let in_unsigned = |exact: Option<u128>| exact.is_some_and(|exact| truncate(exact, bits) == exact);
    let (value, is_exact) = match function {
        Intrinsic::SignedAddOverflow => (left.wrapping_add(right), fits(signed_left.checked_add(signed_right), bits)),
        Intrinsic::UnsignedAddOverflow => (left.wrapping_add(right), in_unsigned(left.checked_add(right))),
        Intrinsic::SignedSubtractOverflow => (left.wrapping_sub(right), fits(signed_left.checked_sub(signed_right), bits)),
        Intrinsic::UnsignedSubtractOverflow => (left.wrapping_sub(right), left >= right),
        Intrinsic::SignedMultiplyOverflow => (left.wrapping_mul(right), fits(signed_left.checked_mul(signed_right), bits)),
        Intrinsic::UnsignedMultiplyOverflow => (left.wrapping_mul(right), in_unsigned(left.checked_mul(right))),
        other => return Err(Fault::undefined(format!("{other:?} as an overflow function"))),
    };
    Ok((ScalarValue::integer(bits, value), ScalarValue::boolean(!is_exact)))
}
