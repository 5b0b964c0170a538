//! A `printf` format, taken apart into literal text and directives.

use crate::explore::fault::Fault;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    Literal(Vec<u8>),
    Directive(Directive),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Flags {
    pub left: bool,
    pub plus: bool,
    pub space: bool,
    pub alternate: bool,
    pub zero: bool,
}

/// A width or a precision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    Number(i64),
    /// `*`, or `*3$` with the position of its argument from 0.
    Argument(Option<usize>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Length {
    #[default]
    Default,
    Char,
    Short,
    Long,
    LongLong,
    Size,
    Max,
    Difference,
    LongDouble,
}

impl Length {
    /// The width of an integer of this length.
    pub fn bits(self, long_bits: u32) -> u32 {
        match self {
            Length::Char => 8,
            Length::Short => 16,
            Length::Default => 32,
            Length::Long | Length::Size | Length::Difference => long_bits,
            // glibc takes `L` before an integer conversion for `ll`.
            Length::LongLong | Length::Max | Length::LongDouble => 64,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Directive {
    pub flags: Flags,
    pub width: Option<Count>,
    pub precision: Option<Count>,
    pub length: Length,
    pub conversion: u8,
    /// `%2$d`: the position of its argument, from 0.
    pub position: Option<usize>,
}

/// What stands in the format, in order.
pub fn parse(format: &[u8]) -> Result<Vec<Piece>, Fault> {
    let mut pieces = Vec::new();
    let mut reader = Reader { text: format, at: 0 };
    while let Some(byte) = reader.peek() {
        if byte == b'%' {
            reader.at += 1;
            pieces.push(reader.directive()?);
        } else {
            let rest = &format[reader.at..];
            let length = rest.iter().position(|&byte| byte == b'%').unwrap_or(rest.len());
            pieces.push(Piece::Literal(rest[..length].to_vec()));
            reader.at += length;
        }
    }
    Ok(pieces)
}

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn accept(&mut self, byte: u8) -> bool {
        let accepted = self.peek() == Some(byte);
        self.at += usize::from(accepted);
        accepted
    }

    fn number(&mut self) -> Option<i64> {
        let start = self.at;
        let mut value = 0i64;
        while let Some(byte) = self.peek().filter(u8::is_ascii_digit) {
            value = value.saturating_mul(10).saturating_add(i64::from(byte - b'0'));
            self.at += 1;
        }
        (self.at > start).then_some(value)
    }

    /// `3$` counts from 1.
    fn position(&mut self) -> Option<usize> {
        let start = self.at;
        let position = self.number().filter(|&number| number > 0);
        if position.is_some() && self.accept(b'$') {
            return position.map(|number| number as usize - 1);
        }
        self.at = start;
        None
    }

    fn count(&mut self) -> Option<Count> {
        if self.accept(b'*') {
            return Some(Count::Argument(self.position()));
        }
        self.number().map(Count::Number)
    }

    fn length(&mut self) -> Length {
        let Some(byte) = self.peek() else { return Length::Default };
        let length = match byte {
            b'h' => Length::Short,
            b'l' => Length::Long,
            b'q' => Length::LongLong,
            b'z' | b'Z' => Length::Size,
            b'j' => Length::Max,
            b't' => Length::Difference,
            b'L' => Length::LongDouble,
            _ => return Length::Default,
        };
        self.at += 1;
        match length {
            Length::Short if self.accept(b'h') => Length::Char,
            Length::Long if self.accept(b'l') => Length::LongLong,
            other => other,
        }
    }

    fn directive(&mut self) -> Result<Piece, Fault> {
        let position = self.position();
        let mut flags = Flags::default();
        while let Some(byte) = self.peek() {
            match byte {
                b'-' => flags.left = true,
                b'+' => flags.plus = true,
                b' ' => flags.space = true,
                b'#' => flags.alternate = true,
                b'0' => flags.zero = true,
                // Grouping and alternative digits change nothing in the C locale.
                b'\'' | b'I' => {}
                _ => break,
            }
            self.at += 1;
        }
        let width = self.count();
        // A point alone is precision 0.
        let precision = if self.accept(b'.') { Some(self.count().unwrap_or(Count::Number(0))) } else { None };
        let length = self.length();
        let Some(conversion) = self.peek() else {
            return Err(Fault::Undefined { what: "printf: the format ends inside a directive".to_owned() });
        };
        self.at += 1;
        match conversion {
            b'%' => Ok(Piece::Literal(vec![b'%'])),
            b'd' | b'i' | b'u' | b'o' | b'x' | b'X' | b'c' | b's' | b'p' | b'n' | b'C' | b'S' | b'm' | b'e' | b'E' | b'f'
            | b'F' | b'g' | b'G' | b'a' | b'A' => {
                Ok(Piece::Directive(Directive { flags, width, precision, length, conversion, position }))
            }
            other => {
                Err(Fault::Undefined { what: format!("printf: there is no conversion %{}", (other as char).escape_default()) })
            }
        }
    }
}
