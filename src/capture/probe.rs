//! Is this a build tool that tries out the compiler? Such programs are never checked, and there are hundreds of them in a `configure`.
//!
//! Known by the names that these tools have used for decades: autoconf and libtool compile `conftest.c`, cmake works below `CMakeTmp`,
//! `CMakeScratch` or `CompilerIdC`, meson below `meson-private`. Hand-written scripts in the manner of ffmpeg's (fio, libvpx, qemu) use files of the
//! temporary directory that have `conf` in their name, as `fio-conf-123-45.c` or `ffconf.Xy12/test.c`.
//!
//! # Misses   a script that tries the compiler on files of its own naming is captured, and only costs time.

use std::path::{Path, PathBuf};

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
    stem == "conftest" || source == Path::new("/dev/null") || is_scratch(source) || is_temporary_trial(source)
}

/// A file right in the temporary directory with the word `conf` in its name, or in a directory `ffconf.…` right there.
fn is_temporary_trial(source: &Path) -> bool {
    let directories = [std::env::temp_dir(), PathBuf::from("/tmp"), PathBuf::from("/var/tmp")];
    let inside = directories.iter().find_map(|directory| source.strip_prefix(directory).ok());
    let parts: Vec<String> =
        inside.iter().flat_map(|inside| inside.iter()).map(|part| part.to_string_lossy().into_owned()).collect();
    match parts.as_slice() {
        [file] => file.split(['-', '.', '_']).any(|word| word == "conf"),
        [directory, _] => directory.starts_with("ffconf."),
        _ => false,
    }
}

fn is_scratch(path: &Path) -> bool {
    path.iter().any(|part| DIRECTORIES.iter().any(|name| part == *name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trials_are_known_by_their_names() {
        for trial in [
            "conftest.c",
            "sub/conftest.i",
            "/b/CMakeFiles/CMakeTmp/src.c",
            "meson-private/tmp1/testfile.c",
            "/dev/null",
            "/tmp/fio-conf-1-2-3.c",
            "/tmp/ffconf.Xy12/test.c",
        ] {
            assert!(is_trial(Path::new(trial)), "{trial}");
        }
        for work in [
            "main.c",
            "conftests/a.c",
            "myconftest.c",
            "-",
            "/tmp/a.c",
            "/tmp/reconf.c",
            "/tmp/my-conf/a.c",
            "my-conf-1.c",
            "/src/my-conf-1.c",
        ] {
            assert!(!is_trial(Path::new(work)), "{work}");
        }
    }
}
