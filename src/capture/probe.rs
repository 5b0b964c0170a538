//! Is this a build tool that tries out the compiler? Such programs are never checked, and there are hundreds of them in a `configure`.
//!
//! Known by the names that these tools have used for decades: autoconf and libtool compile `conftest.c`, cmake works below `CMakeTmp`,
//! `CMakeScratch` or `CompilerIdC`, meson below `meson-private`.
//!
//! # Misses   a script that tries the compiler on files of its own naming is captured, and only costs time.

use std::path::Path;

use super::command_line::CommandLine;

const DIRECTORIES: [&str; 5] = ["CMakeTmp", "CMakeScratch", "CompilerIdC", "CompilerIdCXX", "meson-private"];

pub fn is_probe(line: &CommandLine) -> bool {
    let here = std::env::current_dir().unwrap_or_default();
    is_scratch(&here)
        || line.output.iter().any(|output| is_scratch(output))
        || line.sources.iter().any(|source| is_trial(Path::new(&source.file)))
}

fn is_trial(source: &Path) -> bool {
    let stem = source.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    stem == "conftest" || source == Path::new("/dev/null") || is_scratch(source)
}

fn is_scratch(path: &Path) -> bool {
    path.iter().any(|part| DIRECTORIES.iter().any(|name| part == *name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trials_are_known_by_their_names() {
        for trial in
            ["conftest.c", "sub/conftest.i", "/b/CMakeFiles/CMakeTmp/src.c", "meson-private/tmp1/testfile.c", "/dev/null"]
        {
            assert!(is_trial(Path::new(trial)), "{trial}");
        }
        for work in ["main.c", "conftests/a.c", "myconftest.c", "-"] {
            assert!(!is_trial(Path::new(work)), "{work}");
        }
    }
}
