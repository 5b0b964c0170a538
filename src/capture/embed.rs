//! The three forms of output, and how each comes to carry its records. The builder always gets its own words; whatever goes wrong on our
//! side is a note, and never a failed build.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{ExitCode, ExitStatus};

use tempfile::TempDir;

use super::bitcode::Passes;
use super::command_line::{ASSEMBLY, CommandLine, Language, Source};
use super::compiler::{Compilers, same_end};
use super::record::{Content, Record, SECTION};
use super::{assembly, clang, elf, note};

/// What a run of the wrapper has at hand.
struct Work<'a> {
    compilers: &'a Compilers,
    line: &'a CommandLine,
    directory: TempDir,
    standard_input: Option<PathBuf>,
}

/// `-c`: the record goes into each object.
pub fn objects(compilers: &Compilers, words: &[OsString], line: &CommandLine) -> ExitCode {
    let work = match Work::begin(compilers, line) {
        Ok(work) => work,
        Err(code) => return code,
    };
    if line.has_link_time_optimisation && !compilers.has_own_builder {
        return work.link_time_objects();
    }
    let status = match work.build(words) {
        Ok(status) if status.success() => status,
        Ok(status) => return same_end(status),
        Err(code) => return code,
    };
    for (output, source) in work.outputs() {
        work.put_into_object(&output, source);
    }
    same_end(status)
}

/// `-S`: the record is added to each text as directives, and whoever assembles it puts it into the object.
pub fn assembly_texts(compilers: &Compilers, words: &[OsString], line: &CommandLine) -> ExitCode {
    let work = match Work::begin(compilers, line) {
        Ok(work) => work,
        Err(code) => return code,
    };
    let status = match work.build(words) {
        Ok(status) if status.success() => status,
        Ok(status) => return same_end(status),
        Err(code) => return code,
    };
    // With link-time optimisation the text is LLVM's, and has no place for it.
    if !line.has_link_time_optimisation {
        for (output, source) in work.outputs().into_iter().filter(|(output, _)| is_file(output)) {
            let text = assembly::directives(&work.record(source, None).encode());
            let append = || OpenOptions::new().append(true).open(&output)?.write_all(text.as_bytes());
            note_failure(&output, own_copy(&output).and_then(|()| append()));
        }
    }
    same_end(status)
}

/// Sources compiled and linked by one command: one object more is linked, with the records of all of them.
pub fn program(compilers: &Compilers, words: &[OsString], line: &CommandLine) -> ExitCode {
    let work = match Work::begin(compilers, line) {
        Ok(work) => work,
        Err(code) => return code,
    };
    // Assembly that came from `-S` brings its record along.
    let without =
        line.sources.iter().filter(|source| !(source.language == ASSEMBLY && assembly::has_record(Path::new(&source.file))));
    let records: Vec<u8> = without.flat_map(|source| work.record(source, None).encode()).collect();
    if records.is_empty() {
        return compilers.become_builder(words);
    }
    let carrier = work.passes().ok_or_else(no_clang).and_then(|passes| passes.carrier(&records, false));
    let mut all = words.to_vec();
    match carrier {
        // In front, where no `-x` and no `--` holds yet, and where the alignment of its empty sections moves nothing.
        Ok(carrier) => all.insert(0, carrier.into()),
        Err(reason) => note(&line.sources[0].file.to_string_lossy(), &format!("no bitcode is embedded: {reason}")),
    }
    work.build(&all).map_or_else(|code| code, same_end)
}

impl Work<'_> {
    fn begin<'a>(compilers: &'a Compilers, line: &'a CommandLine) -> Result<Work<'a>, ExitCode> {
        let failed = |error: std::io::Error| {
            eprintln!("lockcheck-cc: error: cannot write temporary files: {error}; set TMPDIR to a directory with room");
            ExitCode::FAILURE
        };
        let directory = tempfile::Builder::new().prefix("lockcheck-cc-").tempdir().map_err(failed)?;
        let mut standard_input = None;
        if line.reads_standard_input() {
            // Two compilers want to read it.
            let copy = directory.path().join("standard-input");
            let mut file = File::create(&copy).map_err(failed)?;
            std::io::copy(&mut std::io::stdin().lock(), &mut file).map_err(failed)?;
            standard_input = Some(copy);
        }
        Ok(Work { compilers, line, directory, standard_input })
    }

    fn build(&self, words: &[OsString]) -> Result<ExitStatus, ExitCode> {
        self.compilers.build(words, self.standard_input.as_deref())
    }

    fn passes(&self) -> Option<Passes<'_>> {
        let (line, directory) = (self.line, self.directory.path());
        let clang = self.compilers.clang.as_deref()?;
        Some(Passes { clang, line, standard_input: self.standard_input.as_deref(), directory })
    }

    /// What was made of each source. Of two with equal names in one directory the builder leaves the last.
    fn outputs(&self) -> BTreeMap<PathBuf, &Source> {
        self.line.sources.iter().map(|source| (self.line.output_of(source), source)).collect()
    }

    /// The record of a source, and a note when it has no bitcode though it is C.
    fn record(&self, source: &Source, object: Option<&[u8]>) -> Record {
        let content = match source.language {
            Language::Foreign(reason) => Content::Nothing(reason.to_owned()),
            Language::C | Language::Ir => match self.passes().ok_or_else(no_clang).and_then(|passes| passes.bitcode(source)) {
                Ok(bitcode) => Content::Bitcode(bitcode),
                Err(reason) => {
                    let sentence = match self.compilers.has_own_builder {
                        true => format!("no bitcode: clang rejects what {} accepts: {reason}", self.compilers.builder_name()),
                        false => format!("no bitcode: {reason}"),
                    };
                    note(&source.file.to_string_lossy(), &sentence);
                    Content::Nothing(format!("clang rejects it: {reason}"))
                }
            },
        };
        let base_name = || Path::new(&source.file).file_name().unwrap_or(&source.file).to_string_lossy().into_owned();
        let of_object = object.and_then(|bytes| elf::file_symbols(bytes).into_iter().find(|name| !name.is_empty()));
        Record {
            source: source.file.to_string_lossy().into_owned(),
            directory: std::env::current_dir().unwrap_or_default().to_string_lossy().into_owned(),
            file_symbol: of_object.unwrap_or_else(base_name),
            content,
        }
    }

    /// Adds the section to an object that was just built.
    fn put_into_object(&self, output: &Path, source: &Source) {
        if !is_file(output) {
            return;
        }
        let put = || -> std::io::Result<()> {
            let bytes = std::fs::read(output)?;
            // Assembly that came from `-S` brings its record along.
            if !bytes.starts_with(elf::MAGIC) || elf::has_section(&bytes, SECTION) {
                return Ok(());
            }
            let record = self.record(source, Some(&bytes)).encode();
            let addition = elf::addition(&bytes, SECTION, &record)
                .ok_or_else(|| std::io::Error::other("its section table cannot be extended"))?;
            own_copy(output)?;
            let mut file = OpenOptions::new().write(true).open(output)?;
            file.seek(SeekFrom::End(0))?;
            file.write_all(&addition.tail)?;
            file.seek(SeekFrom::Start(0))?;
            file.write_all(&addition.head)
        };
        note_failure(output, put());
    }

    /// With link-time optimisation an object is bitcode itself, of optimised code. The record becomes a part of that module, so that it is in
    /// what the linker makes of it. Each source has a record of its own, so each is built by a command of its own.
    fn link_time_objects(&self) -> ExitCode {
        let mut worst = None;
        for source in &self.line.sources {
            let mut words = self.line.words_of(|index, item| item.role.is_some() || index == source.item);
            if source.language != ASSEMBLY {
                let record = self.record(source, None).encode();
                match self.passes().ok_or_else(no_clang).and_then(|passes| passes.carrier(&record, true)) {
                    Ok(carrier) => {
                        let link = ["-Xclang".into(), "-mlink-bitcode-file".into(), "-Xclang".into(), carrier.into_os_string()];
                        words.splice(0..0, link);
                    }
                    Err(reason) => note(&source.file.to_string_lossy(), &format!("no bitcode is embedded: {reason}")),
                }
            }
            match self.build(&words) {
                Ok(status) => {
                    if status.success() {
                        // An assembler file is an ordinary object all the same.
                        self.put_into_object(&self.line.output_of(source), source);
                    }
                    worst = worst.filter(|earlier: &ExitStatus| !earlier.success()).or(Some(status));
                }
                Err(code) => return code,
            }
        }
        worst.map_or(ExitCode::SUCCESS, same_end)
    }
}

fn no_clang() -> String {
    format!("clang {} was not found", clang::llvm_version())
}

fn is_file(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file())
}

/// A compiler cache may have made a hard link to what it keeps: that is not ours to change.
fn own_copy(output: &Path) -> std::io::Result<()> {
    let metadata = std::fs::metadata(output)?;
    if metadata.nlink() == 1 {
        return Ok(());
    }
    let bytes = std::fs::read(output)?;
    std::fs::remove_file(output)?;
    std::fs::write(output, bytes)?;
    let mut permissions = metadata.permissions();
    permissions.set_mode(permissions.mode() | 0o200);
    std::fs::set_permissions(output, permissions)
}

fn note_failure(output: &Path, result: std::io::Result<()>) {
    if let Err(error) = result {
        note(&output.to_string_lossy(), &format!("no bitcode is embedded: {error}"));
    }
}
