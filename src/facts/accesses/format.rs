//! Formats of `printf` and `scanf` that stand in the program as constants: what each directive makes of its argument.

/// What happens to the argument at a position after the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Use {
    /// A number, or a pointer that is only shown.
    Nothing,
    /// A string is read behind it.
    Reads,
    /// So many bytes are written behind it; `None`: as many as it takes.
    Writes(Option<u64>),
}

/// The uses of the arguments of a `printf` format, in order; `None` when the format is beyond this reader.
pub(super) fn printed(format: &[u8], pointer_bytes: u64) -> Option<Vec<Use>> {
    let mut uses = Vec::new();
    let mut rest = format;
    while let Some(at) = rest.iter().position(|byte| *byte == b'%') {
        rest = &rest[at + 1..];
        rest = skip(rest, |byte| matches!(byte, b'-' | b'+' | b' ' | b'#' | b'0' | b'\'' | b'I'));
        for _ in 0..2 {
            let digits = rest;
            if rest.first() == Some(&b'*') {
                uses.push(Use::Nothing);
                rest = &rest[1..];
            }
            rest = skip(rest, |byte| byte.is_ascii_digit());
            // Directives that name positions.
            if rest.first() == Some(&b'$') {
                return None;
            }
            if rest.first() == Some(&b'.') {
                rest = &rest[1..];
            } else if digits.first() != Some(&b'.') {
                break;
            }
        }
        let (length, conversion, after) = conversion(rest)?;
        rest = after;
        match conversion {
            b'%' | b'm' => {}
            b's' | b'S' => uses.push(Use::Reads),
            b'n' => uses.push(Use::Writes(Some(integer_bytes(length, pointer_bytes)))),
            b'd' | b'i' | b'u' | b'o' | b'x' | b'X' | b'c' | b'C' | b'p' | b'e' | b'E' | b'f' | b'F' | b'g' | b'G' | b'a'
            | b'A' => {
                uses.push(Use::Nothing);
            }
            _ => return None,
        }
    }
    Some(uses)
}

/// The same for `scanf`.
pub(super) fn scanned(format: &[u8], pointer_bytes: u64) -> Option<Vec<Use>> {
    let mut uses = Vec::new();
    let mut rest = format;
    while let Some(at) = rest.iter().position(|byte| *byte == b'%') {
        rest = &rest[at + 1..];
        let is_dropped = rest.first() == Some(&b'*');
        rest = skip(rest, |byte| matches!(byte, b'*' | b'\'' | b'I'));
        rest = skip(rest, |byte| byte.is_ascii_digit());
        if rest.first() == Some(&b'$') {
            return None;
        }
        let is_allocated = rest.first() == Some(&b'm');
        rest = if is_allocated { &rest[1..] } else { rest };
        let (length, conversion, mut after) = conversion(rest)?;
        let size = match conversion {
            b'%' => {
                rest = after;
                continue;
            }
            _ if is_allocated => Some(pointer_bytes),
            b'd' | b'i' | b'u' | b'o' | b'x' | b'X' | b'n' => Some(integer_bytes(length, pointer_bytes)),
            b'p' => Some(pointer_bytes),
            // `float`, `double` or `long double`.
            b'e' | b'E' | b'f' | b'F' | b'g' | b'G' | b'a' | b'A' => Some(16),
            b's' | b'S' | b'c' | b'C' => None,
            b'[' => {
                after = after.strip_prefix(b"^").unwrap_or(after);
                after = after.strip_prefix(b"]").unwrap_or(after);
                let end = after.iter().position(|byte| *byte == b']')?;
                after = &after[end + 1..];
                None
            }
            _ => return None,
        };
        rest = after;
        if !is_dropped {
            uses.push(Use::Writes(size));
        }
    }
    Some(uses)
}

fn skip(text: &[u8], is_skipped: impl Fn(u8) -> bool) -> &[u8] {
    let end = text.iter().position(|byte| !is_skipped(*byte)).unwrap_or(text.len());
    &text[end..]
}

/// The modifiers of length, the letter of the conversion, and what comes after it.
fn conversion(text: &[u8]) -> Option<(&[u8], u8, &[u8])> {
    let rest = skip(text, |byte| matches!(byte, b'h' | b'l' | b'L' | b'q' | b'j' | b'z' | b't' | b'w'));
    let length = &text[..text.len() - rest.len()];
    rest.split_first().map(|(letter, after)| (length, *letter, after))
}

fn integer_bytes(length: &[u8], pointer_bytes: u64) -> u64 {
    match length {
        b"hh" => 1,
        b"h" => 2,
        b"l" | b"z" | b"t" => pointer_bytes,
        b"" => 4,
        _ => 8,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_tell_what_happens_to_arguments() {
        use Use::{Nothing, Reads, Writes};
        let print = |format: &str| printed(format.as_bytes(), 8);
        assert_eq!(print("%d %s %p %%"), Some(vec![Nothing, Reads, Nothing]));
        assert_eq!(print("%-*.*s|%5.3f|%.2Lf%lln"), Some(vec![Nothing, Nothing, Reads, Nothing, Nothing, Writes(Some(8))]));
        assert_eq!(print("%08lx%+d%#zx%n"), Some(vec![Nothing, Nothing, Nothing, Writes(Some(4))]));
        assert_eq!(print("%.s%.*d"), Some(vec![Reads, Nothing, Nothing]));
        assert_eq!(print("%2$s"), None);
        assert_eq!(print("%"), None);
        let scan = |format: &str| scanned(format.as_bytes(), 8);
        assert_eq!(scan("%d %*d %ld%hhu"), Some(vec![Writes(Some(4)), Writes(Some(8)), Writes(Some(1))]));
        assert_eq!(scan("%3[^]a]%ms %c%lf"), Some(vec![Writes(None), Writes(Some(8)), Writes(None), Writes(Some(16))]));
    }
}
