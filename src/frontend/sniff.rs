//! What kind of file an input is: by its first bytes, and by its name only where those leave a choice.

use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::program::text::FIRST_LINE;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// C source, preprocessed or not.
    C,
    Bitcode,
    /// LLVM's text form.
    Assembly,
    /// An object, an executable or a shared library.
    Elf,
    Archive,
    /// A compilation database.
    CompileCommands,
    /// lockcheck's own text form of a program.
    TextForm,
}

/// A file that was read.
#[derive(Clone, Debug)]
#[cfg_attr(not(feature = "llvm"), expect(dead_code, reason = "without LLVM nothing is read a second time"))]
pub struct Input {
    /// As the user named it.
    pub name: PathBuf,
    /// Where it can be read again; `None` when it was a pipe.
    pub path: Option<PathBuf>,
    pub kind: Kind,
    pub bytes: Vec<u8>,
    /// Whether our own clang made it just now, so that reading it needs no guard.
    pub is_trusted: bool,
    /// How a compilation database says it is compiled.
    #[cfg(feature = "llvm")]
    pub command: Option<super::compile_commands::CompileCommand>,
}

/// Reads a file and finds out what it is.
pub fn open(name: &Path) -> Result<Input, Error> {
    let file = || name.to_owned();
    let unreadable = |error: std::io::Error| match error.kind() {
        ErrorKind::NotFound => Error::Missing { file: file() },
        _ => Error::Unreadable { file: file(), reason: error.to_string() },
    };
    let metadata = fs::metadata(name).map_err(unreadable)?;
    let kind_of_file = metadata.file_type();
    if kind_of_file.is_dir() {
        return Err(Error::Directory { file: file() });
    }
    if !kind_of_file.is_file() && !kind_of_file.is_fifo() {
        return Err(Error::NotAFile { file: file() });
    }
    let mut bytes = Vec::new();
    File::open(name).and_then(|mut open| open.read_to_end(&mut bytes)).map_err(unreadable)?;
    let kind = kind_of(name, &bytes)?;
    let path = kind_of_file.is_file().then(file);
    Ok(Input {
        name: file(),
        path,
        kind,
        bytes,
        is_trusted: false,
        #[cfg(feature = "llvm")]
        command: None,
    })
}

/// Magic first, then the name, then a look at the text.
pub fn kind_of(name: &Path, bytes: &[u8]) -> Result<Kind, Error> {
    let file = || name.to_owned();
    if bytes.is_empty() {
        return Err(Error::Empty { file: file() });
    }
    if let Some(kind) = kind_by_magic(bytes) {
        return Ok(kind);
    }
    let unknown = |seen: String| Err(Error::UnknownKind { file: file(), seen });
    let file_name = name.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    if file_name.ends_with(".model.yaml") || file_name.ends_with(".model.yml") {
        return unknown("a thread model; the command reads those whose names end with `.model.yaml`".to_owned());
    }
    if file_name == "compile_commands.json" {
        return Ok(Kind::CompileCommands);
    }
    match name.extension().and_then(|extension| extension.to_str()) {
        Some("c" | "i") => Ok(Kind::C),
        Some("ll") => Ok(Kind::Assembly),
        Some("bc") => Err(Error::Invalid {
            file: file(),
            what: "bitcode".into(),
            reason: format!("it does not begin with the bytes `BC` C0 DE: {}", describe(bytes)),
        }),
        Some("cc" | "cpp" | "cxx" | "C" | "ii") => unknown("C++ is not supported".to_owned()),
        Some("s" | "S") => unknown("assembly is not supported".to_owned()),
        _ if looks_like_assembly(bytes) => Ok(Kind::Assembly),
        _ => unknown(describe(bytes)),
    }
}

fn kind_by_magic(bytes: &[u8]) -> Option<Kind> {
    const MAGIC: [(&[u8], Kind); 7] = [
        (b"BC\xC0\xDE", Kind::Bitcode),
        (b"\xDE\xC0\x17\x0B", Kind::Bitcode),
        (b"\x7FELF", Kind::Elf),
        (b"!<arch>\n", Kind::Archive),
        (b"!<thin>\n", Kind::Archive),
        (FIRST_LINE.as_bytes(), Kind::TextForm),
        (b"; ModuleID = ", Kind::Assembly),
    ];
    MAGIC.iter().find(|(magic, _)| bytes.starts_with(magic)).map(|(_, kind)| *kind)
}

/// Whether the first line that is not a comment could only be LLVM's.
fn looks_like_assembly(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(&bytes[..bytes.len().min(4096)]) else { return false };
    let first = text.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with(';'));
    first.is_some_and(|line| ["source_filename =", "target triple =", "target datalayout ="].iter().any(|s| line.starts_with(s)))
}

fn describe(bytes: &[u8]) -> String {
    let start = &bytes[..bytes.len().min(256)];
    let is_text = start.iter().all(|&byte| byte >= 0x20 || byte.is_ascii_whitespace());
    if !is_text {
        return "binary data".to_owned();
    }
    let text = String::from_utf8_lossy(start);
    let line: String = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("").chars().take(30).collect();
    if line.is_empty() { "blank text".to_owned() } else { format!("text that begins with `{line}`") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(name: &str, bytes: &[u8]) -> Result<Kind, String> {
        kind_of(Path::new(name), bytes).map_err(|error| error.to_string())
    }

    #[test]
    fn first_bytes_speak_before_names() {
        assert_eq!(kind("a.c", b"BC\xC0\xDE rest"), Ok(Kind::Bitcode));
        assert_eq!(kind("a.ll", b"\xDE\xC0\x17\x0B"), Ok(Kind::Bitcode));
        assert_eq!(kind("a", b"\x7FELF\x02"), Ok(Kind::Elf));
        assert_eq!(kind("a.txt", b"lockcheck program 1\n"), Ok(Kind::TextForm));
        assert_eq!(kind("a.o", b"!<arch>\n"), Ok(Kind::Archive));
    }

    #[test]
    fn names_decide_the_rest() {
        assert_eq!(kind("a.c", b"int x;"), Ok(Kind::C));
        assert_eq!(kind("a.ll", b"define"), Ok(Kind::Assembly));
        assert_eq!(kind("build/compile_commands.json", b"[]"), Ok(Kind::CompileCommands));
        assert_eq!(kind("a", b"; made by hand\n\ntarget triple = \"x86_64\""), Ok(Kind::Assembly));
    }

    #[test]
    fn everything_else_is_refused_by_name() {
        for (name, bytes, part) in [
            ("a.bc", &b"int x;"[..], "does not begin with"),
            ("a.txt", b"hello", "text that begins with `hello`"),
            ("a", b"\0\x01\x02", "binary data"),
            ("a", b" \n ", "blank text"),
            ("a.cpp", b"int x;", "C++"),
            ("a.model.yml", b"threads:", "end with `.model.yaml`"),
            ("a.c", b"", "is empty"),
        ] {
            let sentence = kind(name, bytes).expect_err(name);
            assert!(sentence.contains(part) && sentence.starts_with(name), "{sentence}");
        }
    }
}
