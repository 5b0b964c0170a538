//! Records as directives of an assembler: at the end of assembly text, and inside a C file that carries nothing else.

use std::path::Path;

use super::record::SECTION;

/// The source of the object that carries the records of a program compiled and linked at once.
pub const CARRIER: &str = "lockcheck-records.c";

/// A linker that collects garbage drops the record of an object of which it keeps nothing: an empty section that it must keep prevents that.
const KEEP: &str = ".pushsection .lockcheck.keep,\"aR\",%progbits\n.popsection\n";

/// Directives that put the bytes into the section of records. `%progbits` is understood on every target.
pub fn directives(bytes: &[u8]) -> String {
    const BYTES_A_LINE: usize = 64;
    let mut text = format!("\t.pushsection\t{SECTION},\"\",%progbits\n");
    for line in bytes.chunks(BYTES_A_LINE) {
        text.push_str("\t.ascii\t\"");
        push_escaped(&mut text, line);
        text.push_str("\"\n");
    }
    text.push_str("\t.popsection\n");
    text
}

/// Whether the text has directives of ours at its end.
pub fn has_record(file: &Path) -> bool {
    let opening = directives(&[]).lines().next().map(str::to_owned).expect("the section is named first");
    std::fs::read(file).is_ok_and(|text| text.split(|&byte| byte == b'\n').rev().any(|line| line == opening.as_bytes()))
}

/// A C file that puts the bytes there. With `__asm__` it is C of every standard.
pub fn carrier(bytes: &[u8]) -> String {
    let mut text = String::new();
    for line in directives(bytes).lines().chain(KEEP.lines()) {
        text.push_str("__asm__(\"");
        push_escaped(&mut text, line.as_bytes());
        text.push_str("\");\n");
    }
    text
}

fn push_escaped(text: &mut String, bytes: &[u8]) {
    for &byte in bytes {
        match byte {
            b'"' | b'\\' => text.extend(['\\', byte as char]),
            b' '..=b'~' => text.push(byte as char),
            _ => text.push_str(&format!("\\{byte:03o}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_written_so_that_an_assembler_reads_them_back() {
        let text = directives(b"a\"\\\0\xFF7");
        assert_eq!(text.lines().nth(1), Some("\t.ascii\t\"a\\\"\\\\\\000\\3777\""));
        assert!(carrier(b"\\").contains("__asm__(\"\\011.ascii\\011\\\"\\\\\\\\\\\"\");"));
    }
}
