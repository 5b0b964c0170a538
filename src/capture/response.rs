//! Response files: `@file` stands for the words in it, in the manner of GNU tools.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

/// A response file that names itself would have no end.
const DEEPEST: usize = 16;

/// Every `@file` that can be read is replaced by its words; others stay as they are, as compilers have it.
pub fn expand(words: &[OsString]) -> Vec<OsString> {
    expand_to_depth(words, DEEPEST)
}

fn expand_to_depth(words: &[OsString], depth: usize) -> Vec<OsString> {
    let mut expanded = Vec::with_capacity(words.len());
    for word in words {
        let file = word.as_bytes().strip_prefix(b"@").filter(|_| depth > 0);
        match file.and_then(|name| std::fs::read(Path::new(OsStr::from_bytes(name))).ok()) {
            Some(text) => expanded.extend(expand_to_depth(&split(&text), depth - 1)),
            None => expanded.push(word.clone()),
        }
    }
    expanded
}

/// Words between blanks. Quotes of both kinds hold blanks together, a backslash takes the next byte as it is.
pub fn split(text: &[u8]) -> Vec<OsString> {
    let mut words = Vec::new();
    let mut word: Option<Vec<u8>> = None;
    let mut quote = None;
    let mut bytes = text.iter().copied();
    while let Some(byte) = bytes.next() {
        match (quote, byte) {
            // In single quotes a shell takes a backslash as it is, response files do not.
            (_, b'\\') => word.get_or_insert_default().extend(bytes.next()),
            (Some(open), _) if byte == open => quote = None,
            (Some(_), _) => word.get_or_insert_default().push(byte),
            (None, b'"' | b'\'') => {
                quote = Some(byte);
                word.get_or_insert_default();
            }
            (None, _) if byte.is_ascii_whitespace() => words.extend(word.take().map(OsString::from_vec)),
            (None, _) => word.get_or_insert_default().push(byte),
        }
    }
    words.extend(word.map(OsString::from_vec));
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_as_gnu_tools_split_them() {
        assert_eq!(split(b" -DA=\"b c\"\n'x y'\t\\ z '' a\\\"b"), ["-DA=b c", "x y", " z", "", "a\"b"]);
        assert!(split(b" \n").is_empty());
    }
}
