//! Integers and padding, as `printf` writes them.

use super::directive::Flags;

/// A directive with its width and precision known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    pub flags: Flags,
    pub width: usize,
    pub precision: Option<usize>,
}

impl Layout {
    /// Sign or prefix, then digits: zeros go between the two.
    pub fn number(&self, prefix: &str, digits: &str, may_fill_with_zeros: bool) -> Vec<u8> {
        let missing = self.width.saturating_sub(prefix.len() + digits.len());
        let mut text = Vec::with_capacity(self.width.max(prefix.len() + digits.len()));
        if self.flags.left {
            text.extend_from_slice(prefix.as_bytes());
            text.extend_from_slice(digits.as_bytes());
            text.resize(text.len() + missing, b' ');
        } else if self.flags.zero && may_fill_with_zeros {
            text.extend_from_slice(prefix.as_bytes());
            text.resize(text.len() + missing, b'0');
            text.extend_from_slice(digits.as_bytes());
        } else {
            text.resize(missing, b' ');
            text.extend_from_slice(prefix.as_bytes());
            text.extend_from_slice(digits.as_bytes());
        }
        text
    }

    /// Text: no zeros.
    pub fn text(&self, bytes: &[u8]) -> Vec<u8> {
        let missing = self.width.saturating_sub(bytes.len());
        let mut text = Vec::with_capacity(self.width.max(bytes.len()));
        if !self.flags.left {
            text.resize(missing, b' ');
        }
        text.extend_from_slice(bytes);
        if self.flags.left {
            text.resize(text.len() + missing, b' ');
        }
        text
    }

    pub fn sign(&self, negative: bool) -> &'static str {
        match (negative, self.flags.plus, self.flags.space) {
            (true, _, _) => "-",
            (false, true, _) => "+",
            (false, false, true) => " ",
            (false, false, false) => "",
        }
    }

    pub fn signed(&self, value: i128) -> Vec<u8> {
        let digits = self.digits(value.unsigned_abs().to_string(), value == 0);
        self.number(self.sign(value < 0), &digits, self.precision.is_none())
    }

    /// `conversion` is one of `u o x X`.
    pub fn unsigned(&self, value: u128, conversion: u8) -> Vec<u8> {
        let plain = match conversion {
            b'o' => format!("{value:o}"),
            b'x' => format!("{value:x}"),
            b'X' => format!("{value:X}"),
            _ => value.to_string(),
        };
        let mut digits = self.digits(plain, value == 0);
        let mut prefix = "";
        if self.flags.alternate {
            match conversion {
                // The first digit of an octal number is 0.
                b'o' if !digits.starts_with('0') => digits.insert(0, '0'),
                b'x' if value != 0 => prefix = "0x",
                b'X' if value != 0 => prefix = "0X",
                // A zero has no prefix, nor has an octal number that begins with 0, nor a decimal one (where `#` is undefined in C).
                _ => {}
            }
        }
        self.number(prefix, &digits, self.precision.is_none())
    }

    /// An address that is not null: in hexadecimal, with a sign where the flags ask for one.
    pub fn address(&self, address: u128) -> Vec<u8> {
        let digits = self.digits(format!("{address:x}"), false);
        self.number(&format!("{}0x", self.sign(false)), &digits, self.precision.is_none())
    }

    /// At least as many digits as the precision; none for 0 with precision 0.
    fn digits(&self, plain: String, is_zero: bool) -> String {
        match self.precision {
            Some(0) if is_zero => String::new(),
            Some(precision) if plain.len() < precision => "0".repeat(precision - plain.len()) + &plain,
            _ => plain,
        }
    }
}
