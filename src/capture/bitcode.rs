//! The second pass over a source: its bitcode, with every access of the source still in it.
//!
//! The options are the user's, without those that speak of output, optimisation, warnings or linking; ours come last and win.
//! `-O1 -Xclang -disable-llvm-passes` optimises nothing, but unlike `-O0` keeps the bodies of plain `inline` functions and marks no
//! function `optnone`.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::command_line::{CommandLine, Source};
use super::options::Role;
use super::{assembly, elf};

/// Old C is accepted as compilers accepted it when it was written.
pub const LENIENT: [&str; 4] = [
    "-Wno-error=implicit-function-declaration",
    "-Wno-error=implicit-int",
    "-Wno-error=int-conversion",
    "-Wno-error=incompatible-pointer-types",
];
/// The name of the output follows. `modf` stays a call of a known function, where clang would make an instruction with two results of it.
/// A precompiled header was made with another level of optimisation, which changes nothing in what it declares.
pub const ANALYSIS: [&str; 12] = [
    "-fno-builtin-modf",
    "-fno-builtin-modff",
    "-fno-builtin-modfl",
    "-g",
    "-O1",
    "-Xclang",
    "-disable-llvm-passes",
    "-Xclang",
    "-fno-validate-pch",
    "-emit-llvm",
    "-c",
    "-o",
];
/// The builder has said already what is to be said.
const SILENT: [&str; 2] = ["-w", "-Qunused-arguments"];
/// Options that only other compilers know are dropped; all of them are named at the first try, in one stage of clang or the next.
const MOST_TRIES: usize = 3;
/// Where glibc looks for settings of its allocator. Clang takes its memory in few pieces of large pages with these: a tenth of the pass was page faults.
const TUNABLES: &str = "GLIBC_TUNABLES";
const LARGE_PAGES: &str = "glibc.malloc.hugetlb=1:glibc.malloc.top_pad=33554432:glibc.malloc.mmap_threshold=268435456";

/// What the passes over one command line share.
pub struct Passes<'a> {
    pub clang: &'a Path,
    pub line: &'a CommandLine,
    /// A copy of standard input, when a source is read from there.
    pub standard_input: Option<&'a Path>,
    /// For files of our own.
    pub directory: &'a Path,
}

impl Passes<'_> {
    /// The bitcode of a source, or clang's reason.
    pub fn bitcode(&self, source: &Source) -> Result<Vec<u8>, String> {
        let output = self.directory.join(format!("{}.bc", source.item));
        let mut words = self.options(|role| matches!(role, Role::Code | Role::Include));
        if words.iter().any(|word| word == "-m32") {
            words.extend(host_headers(Path::new("/usr/include")));
        }
        words.extend(SILENT.iter().chain(&ANALYSIS).map(OsString::from));
        words.push(output.clone().into());
        words.extend(input_words(&source.file, source.said.as_deref()));
        self.run(words, self.standard_input)?;
        std::fs::read(&output).map_err(|error| format!("{}: {error}", output.display()))
    }

    /// A file that carries records and nothing else: an object, or bitcode to be linked into a module.
    pub fn carrier(&self, records: &[u8], as_bitcode: bool) -> Result<PathBuf, String> {
        let source = self.directory.join(assembly::CARRIER);
        let output = source.with_extension(if as_bitcode { "bc" } else { "o" });
        std::fs::write(&source, assembly::carrier(records)).map_err(|error| format!("{}: {error}", source.display()))?;
        // Not those of the user that put text before every source. The rest decides for which target it is made, and with which marks.
        let mut words = self.options(|role| role == Role::Code);
        words.extend(SILENT.iter().chain(&["-g0", "-c", "-o"]).map(OsString::from));
        words.push(output.clone().into());
        words.extend(as_bitcode.then(|| "-emit-llvm".into()));
        words.extend(input_words(source.as_os_str(), Some(OsStr::new("c"))));
        self.run(words, None)?;
        if !as_bitcode {
            let unwritten = |error: std::io::Error| format!("{}: {error}", output.display());
            let object = std::fs::read(&output).map_err(unwritten)?;
            let object = elf::without_empty_alignments(&object).ok_or("clang makes no ELF files here")?;
            std::fs::write(&output, object).map_err(unwritten)?;
        }
        Ok(output)
    }

    fn options(&self, is_wanted: impl Fn(Role) -> bool) -> Vec<OsString> {
        let lenient = LENIENT.iter().map(OsString::from);
        lenient.chain(self.line.words_of(|_, item| item.words[0] != "--" && item.role.is_some_and(&is_wanted))).collect()
    }

    fn run(&self, mut words: Vec<OsString>, standard_input: Option<&Path>) -> Result<(), String> {
        for _ in 0..MOST_TRIES {
            let mut command = Command::new(self.clang);
            command.args(&words).stdout(Stdio::null());
            if std::env::var_os(TUNABLES).is_none() {
                command.env(TUNABLES, LARGE_PAGES);
            }
            match standard_input {
                Some(file) => command.stdin(File::open(file).map_err(|error| error.to_string())?),
                None => command.stdin(Stdio::null()),
            };
            let output = command.output().map_err(|error| format!("{}: {error}", self.clang.display()))?;
            if output.status.success() {
                return Ok(());
            }
            let messages = String::from_utf8_lossy(&output.stderr).into_owned();
            let unknown: Vec<&str> = messages.lines().filter_map(unknown_option).collect();
            let before = words.len();
            words.retain(|word| !unknown.iter().any(|name| word == name));
            if words.len() == before {
                return Err(reason(&messages));
            }
        }
        Err("clang knows too few of its options".to_owned())
    }
}

/// `-x` and the file, so that no name is taken for an option.
fn input_words(file: &OsStr, language: Option<&OsStr>) -> Vec<OsString> {
    let mut words: Vec<OsString> = language.into_iter().flat_map(|name| [OsString::from("-x"), name.to_owned()]).collect();
    let is_option_like = file != "-" && file.to_string_lossy().starts_with('-');
    words.extend(is_option_like.then(|| "--".into()));
    words.push(file.to_owned());
    words
}

/// The option that a message of clang's driver rejects.
fn unknown_option(line: &str) -> Option<&str> {
    let (_, message) = line.split_once("error: ")?;
    let rest = ["unknown argument: '", "unknown argument '", "unsupported option '", "unsupported argument '"];
    let after = rest.iter().find_map(|start| message.strip_prefix(start))?;
    let named = after.split('\'').next()?;
    named.starts_with('-').then_some(named)
}

/// The first error, or whatever was said.
fn reason(messages: &str) -> String {
    let error = messages.lines().find(|line| line.contains("error: "));
    let line = error.or_else(|| messages.lines().find(|line| !line.trim().is_empty()));
    line.unwrap_or("clang gives no reason").trim().to_owned()
}

/// For 32 bits clang does not look where Debian keeps the kernel's headers (`asm/errno.h`), which serve both models.
pub fn host_headers(include: &Path) -> Vec<OsString> {
    let host = include.join(format!("{}-linux-gnu", std::env::consts::ARCH));
    if host.is_dir() { vec!["-idirafter".into(), host.into()] } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hosts_headers_are_added_only_where_they_are() {
        let include = tempfile::tempdir().unwrap();
        assert!(host_headers(include.path()).is_empty());
        let host = include.path().join(format!("{}-linux-gnu", std::env::consts::ARCH));
        std::fs::create_dir(&host).unwrap();
        assert_eq!(host_headers(include.path()), ["-idirafter".into(), host.into_os_string()]);
    }

    #[test]
    fn rejected_options_are_found_in_messages() {
        assert_eq!(unknown_option("clang: error: unknown argument: '-fgcc-only'"), Some("-fgcc-only"));
        assert_eq!(unknown_option("clang: error: unknown argument '-mx'; did you mean '-mv'?"), Some("-mx"));
        assert_eq!(unknown_option("a.c:1:1: error: expected ';'"), None);
    }

    #[test]
    fn a_file_that_looks_like_an_option_is_a_file() {
        assert_eq!(input_words(OsStr::new("-a.c"), None), ["--", "-a.c"]);
        assert_eq!(input_words(OsStr::new("-"), Some(OsStr::new("c"))), ["-x", "c", "-"]);
    }
}
