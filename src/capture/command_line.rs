//! A compiler's command line, understood as far as capture needs: what is compiled, how far, and where to.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::options::{self, Role};
use super::response;

/// How far the compiler goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// `-S`
    Assembly,
    /// `-c`
    Object,
    Link,
    /// Preprocessed text, a list of dependencies, a version number: nothing with code in it.
    Nothing,
}

/// What a source is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    C,
    /// LLVM's own.
    Ir,
    /// Compiled, but there is no bitcode of it here.
    Foreign(&'static str),
}

/// A file that is compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    pub file: OsString,
    pub language: Language,
    /// The word after `-x`, when one holds here.
    pub said: Option<OsString>,
    /// Its item in the command line.
    pub item: usize,
}

/// An option with its value, or an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// `None` is an input.
    pub role: Option<Role>,
    pub words: Vec<OsString>,
}

#[derive(Clone, Debug)]
pub struct CommandLine {
    pub items: Vec<Item>,
    pub stage: Stage,
    pub sources: Vec<Source>,
    pub output: Option<PathBuf>,
    pub has_link_time_optimisation: bool,
}

impl CommandLine {
    pub fn parse(words: &[OsString]) -> CommandLine {
        let items = items(&response::expand(words));
        let mut line =
            CommandLine { items, stage: Stage::Link, sources: Vec::new(), output: None, has_link_time_optimisation: false };
        let mut language: Option<OsString> = None;
        let mut is_question = false;
        let (mut stops_early, mut is_assembly, mut is_object) = (false, false, false);
        for (index, item) in line.items.iter().enumerate() {
            let first = item.words[0].to_string_lossy();
            let value = || item.words.get(1).cloned().or_else(|| options::joined_value(&first).map(OsString::from));
            match item.role {
                None => line.sources.extend(source(&item.words[0], language.as_deref(), index)),
                Some(Role::Stage) => match &*first {
                    "-c" | "--compile" => is_object = true,
                    "-S" | "--assemble" => is_assembly = true,
                    _ => stops_early = true,
                },
                Some(Role::Output) => line.output = value().map(PathBuf::from),
                Some(Role::Language) => language = value().filter(|word| word != "none"),
                Some(Role::LinkTimeOptimisation) => match &*first {
                    "-fno-lto" | "-ffat-lto-objects" => line.has_link_time_optimisation = false,
                    word if word.starts_with("-flto") && !word.starts_with("-flto-") => line.has_link_time_optimisation = true,
                    _ => {}
                },
                Some(Role::Question) => is_question = true,
                Some(
                    Role::Dependencies
                    | Role::Optimisation
                    | Role::Strictness
                    | Role::Instrumentation
                    | Role::Include
                    | Role::Linker
                    | Role::Code,
                ) => {}
            }
        }
        line.stage = match (is_question || stops_early, is_assembly, is_object) {
            (true, ..) => Stage::Nothing,
            (false, true, _) => Stage::Assembly,
            (false, false, true) => Stage::Object,
            (false, false, false) => Stage::Link,
        };
        line
    }

    /// Whether something is compiled that ends in a file with code.
    pub fn makes_code(&self) -> bool {
        self.stage != Stage::Nothing && !self.sources.is_empty()
    }

    pub fn reads_standard_input(&self) -> bool {
        self.sources.iter().any(|source| source.file == "-")
    }

    /// Where the compiler puts what it makes of a source, when it does not link.
    pub fn output_of(&self, source: &Source) -> PathBuf {
        let extension = if self.stage == Stage::Assembly { "s" } else { "o" };
        self.output.clone().unwrap_or_else(|| match source.file.as_bytes() {
            b"-" => PathBuf::from(format!("-.{extension}")),
            _ => PathBuf::from(Path::new(&source.file).file_name().unwrap_or_default()).with_extension(extension),
        })
    }

    /// The words, after response files, without the items that are not wanted.
    pub fn words_of(&self, is_wanted: impl Fn(usize, &Item) -> bool) -> Vec<OsString> {
        let wanted = self.items.iter().enumerate().filter(|(index, item)| is_wanted(*index, item));
        wanted.flat_map(|(_, item)| item.words.iter().cloned()).collect()
    }
}

fn items(words: &[OsString]) -> Vec<Item> {
    let mut items = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let text = word.to_string_lossy();
        if text == "--" {
            items.push(Item { role: Some(Role::Code), words: vec![word.clone()] });
            items.extend(words.by_ref().map(|file| Item { role: None, words: vec![file.clone()] }));
        } else if text == "-" || !text.starts_with('-') {
            items.push(Item { role: None, words: vec![word.clone()] });
        } else {
            let (role, takes_next) = options::classify(&text);
            let value = takes_next.then(|| words.next()).flatten();
            items.push(Item { role: Some(role), words: [word].into_iter().chain(value).cloned().collect() });
        }
    }
    items
}

/// A source among the inputs; objects, archives and linker scripts are none.
fn source(file: &OsStr, said: Option<&OsStr>, item: usize) -> Option<Source> {
    let language = match said {
        Some(word) => language_named(&word.to_string_lossy()),
        None => language_by_ending(Path::new(file).extension()?.to_str()?),
    }?;
    Some(Source { file: file.to_owned(), language, said: said.map(OsStr::to_owned), item })
}

const CPP: Language = Language::Foreign("C++ is not read");
pub const ASSEMBLY: Language = Language::Foreign("it is assembly");
const OBJECTIVE_C: Language = Language::Foreign("Objective-C is not read");
const OTHER: Language = Language::Foreign("its language is not read");

fn language_named(word: &str) -> Option<Language> {
    match word {
        "c" | "cpp-output" => Some(Language::C),
        "ir" => Some(Language::Ir),
        "c++" | "c++-cpp-output" | "c++-module" => Some(CPP),
        "assembler" | "assembler-with-cpp" => Some(ASSEMBLY),
        word if word.contains("header") => None,
        word if word.starts_with("objective-c") => Some(OBJECTIVE_C),
        _ => Some(OTHER),
    }
}

fn language_by_ending(ending: &str) -> Option<Language> {
    match ending {
        "c" | "i" => Some(Language::C),
        "ll" | "bc" => Some(Language::Ir),
        "C" | "cc" | "CC" | "cp" | "cpp" | "CPP" | "cxx" | "CXX" | "c++" | "C++" | "ii" | "iim" => Some(CPP),
        "s" | "S" | "asm" | "sx" => Some(ASSEMBLY),
        "m" | "mi" | "M" | "mm" | "mii" => Some(OBJECTIVE_C),
        "f" | "F" | "f90" | "F90" | "for" | "cu" | "cl" | "d" | "go" | "ads" | "adb" => Some(OTHER),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> CommandLine {
        CommandLine::parse(&response::split(text.as_bytes()))
    }

    fn files(line: &CommandLine) -> Vec<String> {
        line.sources.iter().map(|source| source.file.to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn sources_are_told_from_objects_and_values() {
        let line = parse("-I a.c -include b.c -o p.c x.c sub/x.c y.o lib.a script.ld -lm -Xlinker z.c -- -w.c");
        assert_eq!(files(&line), ["x.c", "sub/x.c", "-w.c"]);
        assert_eq!((line.stage, line.output), (Stage::Link, Some("p.c".into())));
    }

    #[test]
    fn a_language_holds_until_the_next() {
        let line = parse("-x c a b -x assembler c -xnone d.c e - -x c -");
        assert_eq!(files(&line), ["a", "b", "c", "d.c", "-"]);
        let languages: Vec<Language> = line.sources.iter().map(|source| source.language).collect();
        assert_eq!(languages, [Language::C, Language::C, ASSEMBLY, Language::C, Language::C]);
    }

    #[test]
    fn the_earliest_stage_wins() {
        for (text, stage) in [
            ("-c a.c", Stage::Object),
            ("-c -S a.c", Stage::Assembly),
            ("-c -E a.c", Stage::Nothing),
            ("-MM a.c", Stage::Nothing),
            ("-MD -c a.c", Stage::Object),
            ("-fsyntax-only a.c", Stage::Nothing),
            ("--version a.c", Stage::Nothing),
            ("a.c", Stage::Link),
        ] {
            assert_eq!(parse(text).stage, stage, "{text}");
        }
        assert!(!parse("-v").makes_code() && !parse("a.o -o p").makes_code());
    }

    #[test]
    fn outputs_are_named_as_compilers_name_them() {
        let line = parse("-c d/a.c b.x.c");
        let outputs: Vec<PathBuf> = line.sources.iter().map(|source| line.output_of(source)).collect();
        assert_eq!(outputs, [PathBuf::from("a.o"), PathBuf::from("b.x.o")]);
        let line = parse("-S d/a.c");
        assert_eq!(line.output_of(&line.sources[0]), PathBuf::from("a.s"));
    }
}
