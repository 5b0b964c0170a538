//! Floating-point numbers as `printf` writes them: exact decimal expansions, rounded to nearest, halves to even.

use num_bigint::BigUint;

use super::integer::Layout;
use crate::explore::builtins::real::{Class, Real};
use crate::program::Scalar;

impl Layout {
    /// `conversion` is one of `e E f F g G a A`.
    pub fn float(&self, number: Real, conversion: u8) -> Vec<u8> {
        let is_upper = conversion.is_ascii_uppercase();
        let sign = self.sign(number.negative);
        let word = match number.class {
            Class::Infinite => "inf",
            Class::NotANumber => "nan",
            Class::Zero | Class::Subnormal | Class::Normal => {
                let (prefix, digits) = match conversion.to_ascii_lowercase() {
                    b'f' => ("", fixed(number, self.precision.unwrap_or(6), self.flags.alternate)),
                    b'e' => ("", exponential(number, self.precision.unwrap_or(6), self.flags.alternate)),
                    b'g' => ("", general(number, self.precision.unwrap_or(6), self.flags.alternate)),
                    _ => ("0x", hexadecimal(number, self.precision, self.flags.alternate)),
                };
                let (prefix, digits) = (format!("{sign}{prefix}"), digits);
                return if is_upper {
                    self.number(&prefix.to_ascii_uppercase(), &digits.to_ascii_uppercase(), true)
                } else {
                    self.number(&prefix, &digits, true)
                };
            }
        };
        let word = if is_upper { word.to_ascii_uppercase() } else { word.to_owned() };
        self.number(sign, &word, false)
    }
}

/// More digits than these are zeros in every format.
const MOST_DIGITS: usize = 17_000;

/// `mantissa · 2^exponent · 10^scale`, rounded to an integer.
fn scaled(number: Real, scale: i64) -> BigUint {
    let mut numerator = BigUint::from(number.mantissa);
    let mut denominator = BigUint::from(1u32);
    let power = BigUint::from(10u32).pow(scale.unsigned_abs() as u32);
    if scale >= 0 {
        numerator *= power
    } else {
        denominator *= power
    }
    if number.exponent >= 0 {
        numerator <<= number.exponent
    } else {
        denominator <<= -number.exponent
    }
    let quotient = &numerator / &denominator;
    let twice_rest: BigUint = (numerator - &quotient * &denominator) << 1;
    let is_odd = quotient.bit(0);
    if twice_rest > denominator || (twice_rest == denominator && is_odd) { quotient + 1u32 } else { quotient }
}

fn fixed(number: Real, precision: usize, alternate: bool) -> String {
    let exact = precision.min(MOST_DIGITS);
    let mut digits = scaled(number, exact as i64).to_string();
    if digits.len() <= exact {
        digits.insert_str(0, &"0".repeat(exact + 1 - digits.len()));
    }
    let fraction = digits.split_off(digits.len() - exact);
    digits.push_str(if precision > 0 || alternate { "." } else { "" });
    digits.push_str(&fraction);
    digits.push_str(&"0".repeat(precision - exact));
    digits
}

/// `count` significant digits, and the decimal exponent of the first.
fn significant(number: Real, count: usize) -> (String, i64) {
    if number.class == Class::Zero {
        return ("0".repeat(count), 0);
    }
    let exact = count.min(MOST_DIGITS);
    let bits = i64::from(128 - number.mantissa.leading_zeros()) - 1 + i64::from(number.exponent);
    // log10(2), a little less or more: the loop corrects an estimate that is one off.
    let mut exponent = (bits as f64 * std::f64::consts::LOG10_2).floor() as i64;
    loop {
        let digits = scaled(number, exact as i64 - 1 - exponent).to_string();
        match digits.len().cmp(&exact) {
            std::cmp::Ordering::Less => exponent -= 1,
            std::cmp::Ordering::Greater => exponent += 1,
            std::cmp::Ordering::Equal => return (digits + &"0".repeat(count - exact), exponent),
        }
    }
}

fn exponential(number: Real, precision: usize, alternate: bool) -> String {
    let (digits, exponent) = significant(number, precision + 1);
    exponential_of(&digits, exponent, alternate)
}

fn exponential_of(digits: &str, exponent: i64, alternate: bool) -> String {
    let (first, rest) = digits.split_at(1);
    let point = if !rest.is_empty() || alternate { "." } else { "" };
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{first}{point}{rest}e{sign}{:02}", exponent.abs())
}

/// `%g`: the shorter of the two, trailing zeros cut unless `#`.
fn general(number: Real, precision: usize, alternate: bool) -> String {
    let precision = precision.max(1);
    let (digits, exponent) = significant(number, precision);
    if exponent < -4 || exponent >= precision as i64 {
        let kept = if alternate { &digits[..] } else { trim(&digits) };
        return exponential_of(kept, exponent, alternate);
    }
    let text = fixed(number, (precision as i64 - 1 - exponent) as usize, alternate);
    if alternate || !text.contains('.') {
        return text;
    }
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// At least the first digit stays.
fn trim(digits: &str) -> &str {
    let trimmed = digits.trim_end_matches('0');
    if trimmed.is_empty() { &digits[..1] } else { trimmed }
}

/// `%a`: one hexadecimal digit, a fraction, a binary exponent. The digit is 1 (0 when subnormal) for a `double`,
/// the four leading bits for an x87 number.
fn hexadecimal(number: Real, precision: Option<usize>, alternate: bool) -> String {
    let fraction_bits = match number.kind {
        Scalar::X86Fp80 => 60,
        Scalar::Fp128 => 112,
        _ => 52,
    };
    // A `float` is promoted to `double` before it gets here.
    let fraction_digits = fraction_bits / 4;
    let mut mantissa = number.mantissa;
    let mut exponent = if number.class == Class::Zero { 0 } else { number.exponent + fraction_bits };
    let kept = precision.unwrap_or(fraction_digits as usize).min(fraction_digits as usize) as i32;
    let dropped = (fraction_digits - kept) * 4;
    if dropped > 0 {
        let unit = 1u128 << dropped;
        let rest = mantissa & (unit - 1);
        mantissa >>= dropped;
        if rest > unit / 2 || (rest == unit / 2 && mantissa & 1 == 1) {
            mantissa += 1;
        }
    }
    let mut lead = mantissa >> (kept * 4);
    let fraction = mantissa & ((1u128 << (kept * 4)) - 1);
    if lead > 0xf {
        lead = 1;
        exponent += 4;
    }
    let mut digits = if kept == 0 { String::new() } else { format!("{fraction:0width$x}", width = kept as usize) };
    match precision {
        Some(precision) => digits.push_str(&"0".repeat(precision - kept as usize)),
        None => digits.truncate(digits.trim_end_matches('0').len()),
    }
    let point = if !digits.is_empty() || alternate { "." } else { "" };
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{lead:x}{point}{digits}p{sign}{}", exponent.abs())
}
