//! The comments of a C source, line by line. Words in strings are no comments.

/// The part of a comment that stands on one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece<'a> {
    /// Counted from 1.
    pub line: u32,
    /// In bytes, counted from 1.
    pub column: u32,
    pub text: &'a str,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Code,
    /// Inside `"…"` or `'…'`.
    Quoted(u8),
    /// After `//`, up to the end of the line.
    Line,
    /// After `/*`.
    Block,
}

/// All comments, each line of each one a piece.
pub fn comments(source: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut state = State::Code;
    for (number, line) in (1u32..).zip(source.lines()) {
        state = scan_line(line, number, state, &mut pieces);
    }
    pieces
}

fn scan_line<'a>(line: &'a str, number: u32, mut state: State, pieces: &mut Vec<Piece<'a>>) -> State {
    let bytes = line.as_bytes();
    let mut at = 0;
    // Where the comment that is being read begins on this line.
    let mut start = 0;
    let mut push = |from: usize, to: usize| pieces.push(Piece { line: number, column: from as u32 + 1, text: &line[from..to] });
    while at < bytes.len() {
        let next = bytes.get(at + 1).copied();
        let mut width = 1;
        match (state, bytes[at]) {
            (State::Code, b'/') if next == Some(b'/') => (state, start, width) = (State::Line, at + 2, 2),
            (State::Code, b'/') if next == Some(b'*') => (state, start, width) = (State::Block, at + 2, 2),
            (State::Code, quote @ (b'"' | b'\'')) => state = State::Quoted(quote),
            (State::Quoted(_), b'\\') => width = 2,
            (State::Quoted(quote), byte) if byte == quote => state = State::Code,
            (State::Block, b'*') if next == Some(b'/') => {
                push(start, at);
                (state, width) = (State::Code, 2);
            }
            // Any other byte leaves code code, a literal a literal and a comment a comment.
            (State::Code | State::Quoted(_) | State::Line | State::Block, _) => {}
        }
        at += width;
    }
    // A backslash at its end joins a line with the next one.
    let goes_on = line.ends_with('\\');
    match state {
        State::Line => {
            push(start, line.len());
            if goes_on { State::Line } else { State::Code }
        }
        State::Block => {
            push(start, line.len());
            State::Block
        }
        State::Quoted(_) if goes_on => state,
        State::Quoted(_) | State::Code => State::Code,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(source: &str) -> Vec<(u32, u32, &str)> {
        comments(source).into_iter().map(|piece| (piece.line, piece.column, piece.text)).collect()
    }

    #[test]
    fn both_kinds_are_found_and_strings_are_not() {
        assert_eq!(
            texts("int x; // one\n/* two */ y; /* three\nfour */ z;"),
            [(1, 10, " one"), (2, 3, " two "), (2, 16, " three"), (3, 1, "four ")]
        );
        assert_eq!(texts(r#"p("// no", '"', "\"/*"); // yes"#), [(1, 28, " yes")]);
        assert_eq!(texts("a / b; c /= d;"), []);
        assert_eq!(texts("/* // inside */ int x;"), [(1, 3, " // inside ")]);
        assert_eq!(texts("// /* still one line\nint x;"), [(1, 3, " /* still one line")]);
    }

    #[test]
    fn a_backslash_joins_lines() {
        assert_eq!(texts("// a \\\nb\nc"), [(1, 3, " a \\"), (2, 1, "b")]);
        assert_eq!(texts("s = \"a \\\n// b\"; // c"), [(2, 10, " c")]);
    }

    #[test]
    fn odd_sources_are_answered() {
        assert_eq!(texts("/*"), [(1, 3, "")]);
        assert_eq!(texts("\"\\"), []);
        assert_eq!(texts("it's // é"), []);
        assert_eq!(texts("é // é"), [(1, 6, " é")]);
    }
}
