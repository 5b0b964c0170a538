//! Source text for excerpts: read through debug locations, once a file.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::program::{Place, Program};

/// The files that reports quote. A file that cannot be read is simply not quoted.
#[derive(Default)]
pub struct Sources {
    text: BTreeMap<String, Option<String>>,
    paths: BTreeMap<String, PathBuf>,
}

impl Sources {
    pub fn of(program: &Program) -> Sources {
        let paths = program.files.iter().map(|file| (file.path(), file.absolute())).collect();
        Sources { text: BTreeMap::new(), paths }
    }

    /// One line of a file, counted from 1, without its end.
    pub fn line(&mut self, place: &Place) -> Option<&str> {
        let index = (place.line as usize).checked_sub(1)?;
        self.text(&place.file)?.lines().nth(index)
    }

    pub fn text(&mut self, file: &str) -> Option<&str> {
        let paths = &self.paths;
        let read = || {
            let path = paths.get(file).cloned().unwrap_or_else(|| PathBuf::from(file));
            let bytes = std::fs::read(&path).or_else(|_| std::fs::read(file)).ok()?;
            Some(String::from_utf8_lossy(&bytes).into_owned())
        };
        self.text.entry(file.to_owned()).or_insert_with(read).as_deref()
    }
}

/// The bytes of the word or operator at a column (counted from 1) of a line: what a caret underlines.
pub fn token_span(line: &str, column: u32) -> std::ops::Range<usize> {
    let start = (column.max(1) as usize - 1).min(line.len());
    let start = (start..=line.len()).find(|&at| line.is_char_boundary(at)).unwrap_or(line.len());
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let word: usize = line[start..].chars().take_while(|&c| is_word(c)).map(char::len_utf8).sum();
    let first = line[start..].chars().next().map_or(0, char::len_utf8);
    start..start + if word > 0 { word } else { first }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_caret_underlines_the_word_at_the_column() {
        assert_eq!(token_span("    hits++;", 5), 4..8);
        assert_eq!(token_span("    hits++;", 9), 8..9);
        assert_eq!(token_span("x", 40), 1..1);
        assert_eq!(token_span("é = 1", 2), 2..3);
    }
}
