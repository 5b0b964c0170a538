//! Source text for excerpts: read through debug locations, once a file.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::program::{Place, Program};

/// The files that reports quote. A file that cannot be read is simply not quoted.
#[derive(Default)]
pub struct Sources {
    files: BTreeMap<String, Option<SourceFile>>,
    paths: BTreeMap<String, PathBuf>,
}

struct SourceFile {
    text: String,
    /// Where each line begins, and where the last one ends.
    starts: Vec<usize>,
}

impl SourceFile {
    fn new(text: String) -> SourceFile {
        let mut starts = vec![0];
        starts.extend(text.match_indices('\n').map(|(at, _)| at + 1).filter(|at| *at < text.len()));
        starts.push(text.len());
        SourceFile { text, starts }
    }

    /// Lines from the first to the last, both counted from 1 and included.
    fn lines(&self, first: u32, last: u32) -> Option<&str> {
        let from = *self.starts.get((first as usize).checked_sub(1)?)?;
        (first <= last).then(|| self.starts.get(last as usize).map(|to| &self.text[from..*to])).flatten()
    }
}

impl Sources {
    pub fn of(program: &Program) -> Sources {
        let paths = program.files.iter().map(|file| (file.path(), file.absolute())).collect();
        Sources { files: BTreeMap::new(), paths }
    }

    /// One line of a file, counted from 1, without its end.
    pub fn line(&mut self, place: &Place) -> Option<&str> {
        self.lines(&place.file, place.line, place.line)?.lines().next()
    }

    /// Lines of a file from the first to the last, both counted from 1 and included.
    pub fn lines(&mut self, file: &str, first: u32, last: u32) -> Option<&str> {
        self.file(file)?.lines(first, last)
    }

    pub fn text(&mut self, file: &str) -> Option<&str> {
        self.file(file).map(|file| file.text.as_str())
    }

    fn file(&mut self, file: &str) -> Option<&SourceFile> {
        let paths = &self.paths;
        let read = || {
            let path = paths.get(file).cloned().unwrap_or_else(|| PathBuf::from(file));
            let bytes = std::fs::read(&path).or_else(|_| std::fs::read(file)).ok()?;
            Some(SourceFile::new(String::from_utf8_lossy(&bytes).into_owned()))
        };
        if !self.files.contains_key(file) {
            self.files.insert(file.to_owned(), read());
        }
        self.files[file].as_ref()
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
    fn lines_are_counted_from_one_to_the_end() {
        let file = SourceFile::new("a\n\nb".to_owned());
        assert_eq!(file.lines(1, 1), Some("a\n"));
        assert_eq!(file.lines(2, 3), Some("\nb"));
        assert_eq!(file.lines(4, 4), None);
        assert_eq!((file.lines(0, 1), file.lines(3, 2)), (None, None));
        assert_eq!(SourceFile::new("a\n".to_owned()).lines(2, 2), None);
    }

    #[test]
    fn a_caret_underlines_the_word_at_the_column() {
        assert_eq!(token_span("    hits++;", 5), 4..8);
        assert_eq!(token_span("    hits++;", 9), 8..9);
        assert_eq!(token_span("x", 40), 1..1);
        assert_eq!(token_span("é = 1", 2), 2..3);
    }
}
