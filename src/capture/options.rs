//! What the options of a C compiler are for: as much as capture needs to know.

/// Why an option is on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Where to stop: `-c`, `-S`, `-E`, …
    Stage,
    /// `-o`.
    Output,
    /// `-x`: the language of what follows.
    Language,
    /// Lists of included files: `-M…`.
    Dependencies,
    Optimisation,
    LinkTimeOptimisation,
    /// What makes errors of warnings.
    Strictness,
    /// Writes files beside the output, or adds code of its own to the program: coverage, profiles, sanitizers.
    Instrumentation,
    /// Text in front of the source.
    Include,
    /// Speaks to the linker only.
    Linker,
    /// An answer about the compiler, and nothing compiled.
    Question,
    /// Anything else: it may change what the code means.
    Code,
}

/// How the option takes its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Value {
    /// In the next word.
    Next,
    /// In the next word when the word ends with the name, else behind the name.
    JoinedOrNext,
}

use Role::*;
use Value::{JoinedOrNext, Next};

/// Options whose name is a whole word, or the beginning of one that ends with their value.
const WITH_VALUE: &[(&str, Value, Role)] = &[
    ("-o", JoinedOrNext, Output),
    ("--output", Next, Output),
    ("-x", JoinedOrNext, Language),
    ("--language", Next, Language),
    ("-MF", JoinedOrNext, Dependencies),
    ("-MT", JoinedOrNext, Dependencies),
    ("-MQ", JoinedOrNext, Dependencies),
    ("-MJ", JoinedOrNext, Dependencies),
    ("-include", JoinedOrNext, Include),
    ("--include", Next, Include),
    ("-imacros", JoinedOrNext, Include),
    ("--imacros", Next, Include),
    ("-include-pch", Next, Include),
    ("-I", JoinedOrNext, Code),
    ("-D", JoinedOrNext, Code),
    ("-U", JoinedOrNext, Code),
    ("-A", JoinedOrNext, Code),
    ("-B", JoinedOrNext, Code),
    ("-F", JoinedOrNext, Code),
    ("-G", JoinedOrNext, Code),
    ("-idirafter", JoinedOrNext, Code),
    ("-iprefix", JoinedOrNext, Code),
    ("-iquote", JoinedOrNext, Code),
    ("-isysroot", JoinedOrNext, Code),
    ("-isystem", JoinedOrNext, Code),
    ("-isystem-after", JoinedOrNext, Code),
    ("-iwithprefix", JoinedOrNext, Code),
    ("-iwithprefixbefore", JoinedOrNext, Code),
    ("-imultilib", Next, Code),
    ("-iframework", JoinedOrNext, Code),
    ("-ivfsoverlay", JoinedOrNext, Code),
    ("--sysroot", Next, Code),
    ("--define-macro", Next, Code),
    ("--undefine-macro", Next, Code),
    ("--include-directory", Next, Code),
    ("--param", Next, Code),
    ("--config", Next, Code),
    ("--target", Next, Code),
    ("-target", Next, Code),
    ("-arch", Next, Code),
    ("-b", Next, Code),
    ("-gcc-toolchain", Next, Code),
    ("-mllvm", Next, Code),
    ("-Xclang", Next, Code),
    ("-Xpreprocessor", Next, Code),
    ("-Xassembler", Next, Code),
    ("-Xanalyzer", Next, Code),
    ("-working-directory", Next, Code),
    ("-fdebug-compilation-dir", Next, Code),
    ("-dumpbase", Next, Instrumentation),
    ("-dumpbase-ext", Next, Instrumentation),
    ("-dumpdir", Next, Instrumentation),
    ("-aux-info", Next, Instrumentation),
    ("-serialize-diagnostics", Next, Instrumentation),
    ("--serialize-diagnostics", Next, Instrumentation),
    ("-l", JoinedOrNext, Linker),
    ("-L", JoinedOrNext, Linker),
    ("-T", JoinedOrNext, Linker),
    ("-u", JoinedOrNext, Linker),
    ("-z", JoinedOrNext, Linker),
    ("-e", JoinedOrNext, Linker),
    ("-Xlinker", Next, Linker),
    ("-Tbss", Next, Linker),
    ("-Tdata", Next, Linker),
    ("-Ttext", Next, Linker),
    ("-rpath", Next, Linker),
    ("-h", Next, Linker),
    ("-wrapper", Next, Code),
];

/// Words as a whole.
const WORDS: &[(&[&str], Role)] = &[
    (&["-c", "-S", "-E", "--compile", "--assemble", "--preprocess", "-fsyntax-only", "-emit-llvm", "-emit-ast"], Stage),
    (&["--analyze", "--precompile", "-cc1", "-cc1as", "-rewrite-objc", "-extract-api"], Stage),
    (&["-M", "-MM", "--dependencies", "--user-dependencies"], Stage),
    (&["-MD", "-MMD", "-MP", "-MG", "-MV", "--write-dependencies", "--write-user-dependencies"], Dependencies),
    (&["-pedantic-errors", "--pedantic-errors", "-Wfatal-errors", "-Werror"], Strictness),
    (&["-fno-lto", "-flto", "-ffat-lto-objects", "-fno-fat-lto-objects", "-fwhole-program-vtables"], LinkTimeOptimisation),
    (&["--coverage", "-coverage", "-ftest-coverage", "-fcoverage-mapping", "-pg", "-p", "-gsplit-dwarf"], Instrumentation),
    (&["-ftime-trace", "-fstack-usage", "-fsave-optimization-record", "-fxray-instrument"], Instrumentation),
    (&["-save-temps", "--save-temps", "-fembed-bitcode", "-fembed-bitcode-marker"], Instrumentation),
    (&["-shared", "-static", "-rdynamic", "-s", "-r", "-nostdlib", "-nostartfiles", "-nodefaultlibs", "-pie"], Linker),
    (&["-no-pie", "-static-pie", "-static-libgcc", "-shared-libgcc", "-nolibc"], Linker),
    (&["--version", "--help", "-###", "-dumpversion", "-dumpfullversion", "-dumpmachine", "-dumpspecs"], Question),
];

/// Words that begin so. The longest beginning that fits decides.
const BEGINNINGS: &[(&str, Role)] = &[
    ("-O", Optimisation),
    ("--optimize", Optimisation),
    ("-flto=", LinkTimeOptimisation),
    ("-flto-", LinkTimeOptimisation),
    ("-fthinlto", LinkTimeOptimisation),
    ("-Werror=", Strictness),
    ("-Wp,-M", Dependencies),
    ("-Wl,", Linker),
    ("-fuse-ld=", Linker),
    ("--ld-path=", Linker),
    ("-fsanitize", Instrumentation),
    ("-fno-sanitize", Instrumentation),
    ("-fprofile-", Instrumentation),
    ("-fcs-profile-", Instrumentation),
    ("-fcoverage-", Instrumentation),
    ("-fdump-", Instrumentation),
    ("-ftime-trace", Instrumentation),
    ("-fxray-", Instrumentation),
    ("-fembed-bitcode", Instrumentation),
    ("-fopenmp-", Code),
    ("-foptimization-record", Instrumentation),
    ("-save-temps=", Instrumentation),
    ("-gsplit-dwarf=", Instrumentation),
    ("-print-", Question),
    ("--print-", Question),
    ("--help", Question),
    ("--output=", Output),
    ("--language=", Language),
];

/// What an option is for, and whether the next word is its value.
pub fn classify(word: &str) -> (Role, bool) {
    if let Some((_, role)) = WORDS.iter().find(|(words, _)| words.contains(&word)) {
        return (*role, false);
    }
    if word == "-ObjC" || word == "-ObjC++" {
        return (Language, false);
    }
    if let Some((.., role)) = WITH_VALUE.iter().find(|(name, ..)| *name == word) {
        return (*role, true);
    }
    if word.starts_with("-Xarch_") || word.starts_with("-Xopenmp-target") {
        return (Code, true);
    }
    let beginning = BEGINNINGS.iter().filter(|(beginning, _)| word.starts_with(beginning));
    if let Some((_, role)) = beginning.max_by_key(|(beginning, _)| beginning.len()) {
        return (*role, false);
    }
    // `-idirafter…` before `-i…`: the longest name that fits. Names that take their value only in the next word do not begin others.
    let joined = WITH_VALUE.iter().filter(|(name, value, _)| *value == JoinedOrNext && word.starts_with(name));
    match joined.max_by_key(|(name, ..)| name.len()) {
        Some((.., role)) if !is_word_of_its_own(word) => (*role, false),
        Some(_) | None => (Code, false),
    }
}

/// Begins with the letter of an option that takes a value, and has nothing to do with it.
fn is_word_of_its_own(word: &str) -> bool {
    ["-undef", "-export-dynamic"].contains(&word) || word.starts_with("-emit-")
}

/// The value that stands behind the name of an option, in the same word.
pub fn joined_value(word: &str) -> Option<&str> {
    if let Some((_, value)) = word.split_once('=').filter(|_| word.starts_with("--")) {
        return Some(value);
    }
    let names = ["-MF", "-MT", "-MQ", "-MJ", "-o", "-x"];
    names.iter().find_map(|name| word.strip_prefix(name)).filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_known_by_their_words() {
        for (word, expected) in [
            ("-c", (Stage, false)),
            ("-o", (Output, true)),
            ("-oa.o", (Output, false)),
            ("-MMD", (Dependencies, false)),
            ("-MF", (Dependencies, true)),
            ("-MFa.d", (Dependencies, false)),
            ("-Wp,-MD,a.d", (Dependencies, false)),
            ("-Wp,-D_FORTIFY_SOURCE=2", (Code, false)),
            ("-O2", (Optimisation, false)),
            ("-ObjC", (Language, false)),
            ("-flto=thin", (LinkTimeOptimisation, false)),
            ("-Werror=format", (Strictness, false)),
            ("-Wno-error", (Code, false)),
            ("-isystem", (Code, true)),
            ("-isystem/usr", (Code, false)),
            ("-include", (Include, true)),
            ("-lm", (Linker, false)),
            ("-Xclang", (Code, true)),
            ("-undef", (Code, false)),
            ("-usym", (Linker, false)),
            ("-fsanitize=thread", (Instrumentation, false)),
            ("-print-search-dirs", (Question, false)),
            ("-pthread", (Code, false)),
            ("-m32", (Code, false)),
            ("-emit-llvm", (Stage, false)),
            ("--sysroot=/x", (Code, false)),
        ] {
            assert_eq!(classify(word), expected, "{word}");
        }
    }
}
