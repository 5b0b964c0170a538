//! A `scanf` format, taken apart.

use super::format::directive::Length;
use super::number::is_space;
use crate::explore::fault::Fault;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Directive {
    /// Any amount of white space.
    Space,
    Literal {
        byte: u8,
        /// `%%` skips white space before the percent sign.
        skips_space: bool,
    },
    Conversion(Conversion),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conversion {
    /// Not suppressed by `*`.
    pub stores: bool,
    pub width: Option<usize>,
    /// `m`: the result goes into a new object.
    pub allocates: bool,
    pub length: Length,
    pub specifier: u8,
    /// The characters of `%[…]`.
    pub set: Option<Set>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Set {
    members: Vec<u8>,
    is_inverted: bool,
}

impl Set {
    pub fn contains(&self, byte: u8) -> bool {
        self.members.contains(&byte) != self.is_inverted
    }
}

pub fn parse(format: &[u8]) -> Result<Vec<Directive>, Fault> {
    let mut directives = Vec::new();
    let mut at = 0;
    while let Some(&byte) = format.get(at) {
        at += 1;
        if is_space(byte) {
            directives.push(Directive::Space);
        } else if byte != b'%' {
            directives.push(Directive::Literal { byte, skips_space: false });
        } else {
            let (directive, end) = parse_directive(format, at)?;
            directives.push(directive);
            at = end;
        }
    }
    Ok(directives)
}

fn parse_directive(format: &[u8], start: usize) -> Result<(Directive, usize), Fault> {
    let mut at = start;
    let accept = |at: &mut usize, byte: u8| {
        let accepted = format.get(*at) == Some(&byte);
        *at += usize::from(accepted);
        accepted
    };
    let stores = !accept(&mut at, b'*');
    let mut width: Option<usize> = None;
    while let Some(digit) = format.get(at).filter(|byte| byte.is_ascii_digit()) {
        width = Some(width.unwrap_or(0).saturating_mul(10).saturating_add(usize::from(digit - b'0')));
        at += 1;
    }
    let allocates = accept(&mut at, b'm');
    let length = match format.get(at) {
        Some(b'h') => Length::Short,
        Some(b'l') => Length::Long,
        Some(b'q') => Length::LongLong,
        Some(b'z' | b'Z') => Length::Size,
        Some(b'j') => Length::Max,
        Some(b't') => Length::Difference,
        Some(b'L') => Length::LongDouble,
        _ => Length::Default,
    };
    at += usize::from(length != Length::Default);
    let length = match length {
        Length::Short if accept(&mut at, b'h') => Length::Char,
        Length::Long if accept(&mut at, b'l') => Length::LongLong,
        other => other,
    };
    let wrong = |what: &str| Err(Fault::Undefined { what: format!("scanf: {what}") });
    let Some(&specifier) = format.get(at) else {
        return wrong("the format ends inside a directive");
    };
    at += 1;
    // A width of 0 is no width to glibc.
    let mut conversion = Conversion { stores, width: width.filter(|&width| width > 0), allocates, length, specifier, set: None };
    match specifier {
        b'%' => Ok((Directive::Literal { byte: b'%', skips_space: true }, at)),
        b'd' | b'i' | b'u' | b'o' | b'x' | b'X' | b'p' | b'n' | b'a' | b'A' | b'e' | b'E' | b'f' | b'F' | b'g' | b'G' | b'c'
        | b's' => Ok((Directive::Conversion(conversion), at)),
        b'[' => match parse_set(format, at) {
            Some((set, end)) => {
                conversion.set = Some(set);
                Ok((Directive::Conversion(conversion), end))
            }
            None => wrong("a set of characters does not end"),
        },
        other => wrong(&format!("there is no conversion %{}", (other as char).escape_default())),
    }
}

/// From behind the opening bracket to behind the closing one. A bracket in first place is a member.
fn parse_set(format: &[u8], start: usize) -> Option<(Set, usize)> {
    let is_inverted = format.get(start) == Some(&b'^');
    let first = start + usize::from(is_inverted);
    let length = format.get(first + 1..)?.iter().position(|&byte| byte == b']')? + 1;
    let text = &format[first..first + length];
    let mut members = Vec::new();
    let mut at = 0;
    while at < text.len() {
        match text[at..] {
            [low, b'-', high, ..] if low <= high => {
                members.extend(low..=high);
                at += 3;
            }
            [byte, ..] => {
                members.push(byte);
                at += 1;
            }
            [] => break,
        }
    }
    Some((Set { members, is_inverted }, first + length + 1))
}
