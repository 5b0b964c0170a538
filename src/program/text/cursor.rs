//! A cursor over the tokens of one line.

use super::words::parse_scalar;
use crate::program::Type;

/// What is left of a line. Every `expect_…` says what it wanted when it fails.
pub struct Cursor<'t> {
    rest: &'t str,
}

pub type Result<T> = std::result::Result<T, String>;

impl<'t> Cursor<'t> {
    pub fn new(line: &'t str) -> Self {
        Cursor { rest: line.trim_ascii_start() }
    }

    pub fn is_at_end(&self) -> bool {
        self.rest.is_empty()
    }

    pub fn expect_end(&self) -> Result<()> {
        if self.is_at_end() { Ok(()) } else { Err(format!("`{}` is too much", self.rest)) }
    }

    /// Takes this punctuation if it comes next.
    pub fn take(&mut self, token: &str) -> bool {
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest.trim_ascii_start();
                true
            }
            None => false,
        }
    }

    pub fn expect(&mut self, token: &str) -> Result<()> {
        if self.take(token) { Ok(()) } else { Err(format!("`{token}` is missing before `{}`", self.rest)) }
    }

    /// The next word, without taking it.
    pub fn peek_word(&self) -> &'t str {
        let end = self.rest.bytes().position(|byte| !is_word(byte)).unwrap_or(self.rest.len());
        &self.rest[..end]
    }

    pub fn word(&mut self) -> Result<&'t str> {
        let word = self.peek_word();
        if word.is_empty() {
            return Err(format!("a word is missing before `{}`", self.rest));
        }
        self.rest = self.rest[word.len()..].trim_ascii_start();
        Ok(word)
    }

    /// Takes this whole word if it comes next.
    pub fn take_word(&mut self, word: &str) -> bool {
        let is_next = self.peek_word() == word;
        if is_next {
            self.rest = self.rest[word.len()..].trim_ascii_start();
        }
        is_next
    }

    pub fn expect_word(&mut self, word: &str) -> Result<()> {
        if self.take_word(word) { Ok(()) } else { Err(format!("`{word}` is missing before `{}`", self.rest)) }
    }

    pub fn number<T: std::str::FromStr>(&mut self) -> Result<T> {
        let word = self.word()?;
        word.parse().map_err(|_| format!("`{word}` is no number that fits here"))
    }

    /// A number behind a letter: `%12`, `b3`, `f0`, `l5`, `!s7`.
    pub fn prefixed(&mut self, prefix: &str) -> Result<usize> {
        let whole = self.rest;
        let stripped =
            whole.strip_prefix(prefix).ok_or_else(|| format!("`{prefix}` and a number are missing before `{whole}`"))?;
        let end = stripped.bytes().position(|byte| !byte.is_ascii_digit()).unwrap_or(stripped.len());
        let number = stripped[..end].parse().map_err(|_| format!("a number is missing after `{prefix}`"))?;
        self.rest = stripped[end..].trim_ascii_start();
        Ok(number)
    }

    /// Whether a site comes next.
    pub fn peek_site(&self) -> bool {
        self.rest.starts_with("!s")
    }

    /// Takes a prefixed number if one comes next.
    pub fn take_prefixed(&mut self, prefix: &str) -> Result<Option<usize>> {
        let follows = self.rest.strip_prefix(prefix).is_some_and(|rest| rest.as_bytes().first().is_some_and(u8::is_ascii_digit));
        if follows { self.prefixed(prefix).map(Some) } else { Ok(None) }
    }

    /// A string in quotes, with the escapes that [`quote`] writes.
    pub fn string(&mut self) -> Result<String> {
        let mut characters =
            self.rest.strip_prefix('"').ok_or_else(|| format!("a string is missing before `{}`", self.rest))?.chars();
        let mut text = String::new();
        loop {
            match characters.next().ok_or("a string does not end")? {
                '"' => break,
                '\\' => text.push(match characters.next().ok_or("a string does not end")? {
                    'n' => '\n',
                    't' => '\t',
                    'r' => '\r',
                    '0' => '\0',
                    other => other,
                }),
                other => text.push(other),
            }
        }
        self.rest = characters.as_str().trim_ascii_start();
        Ok(text)
    }

    /// `@name` or `@"any name"`.
    pub fn name(&mut self) -> Result<String> {
        self.expect("@")?;
        if self.rest.starts_with('"') { self.string() } else { self.word().map(str::to_owned) }
    }

    pub fn type_(&mut self) -> Result<Type> {
        if self.take("<") {
            let lanes = self.number()?;
            self.expect_word("x")?;
            let word = self.word()?;
            let element = parse_scalar(word).ok_or_else(|| format!("`{word}` is no scalar type"))?;
            self.expect(">")?;
            return Ok(Type::Vector { lanes, element });
        }
        match self.word()? {
            "void" => Ok(Type::Void),
            "bytes" => {
                self.expect("(")?;
                let size = self.number()?;
                self.expect(")")?;
                Ok(Type::Aggregate { size })
            }
            word => parse_scalar(word).map(Type::Scalar).ok_or_else(|| format!("`{word}` is no type")),
        }
    }
}

/// Bytes of plain words: names, numbers, keywords.
pub fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-' | b'$')
}

/// A string in quotes.
pub fn quote(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            '\r' => quoted.push_str("\\r"),
            '\0' => quoted.push_str("\\0"),
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}
