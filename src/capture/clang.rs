//! The clang that makes the bitcode: the version that `ci/toolchain` pins, wherever it is installed.

use std::path::{Path, PathBuf};
use std::process::Command;

const TOOLCHAIN: &str = include_str!("../../ci/toolchain");

/// The major version of LLVM that reads bitcode, and so the newest clang whose bitcode can be read.
pub fn llvm_version() -> u32 {
    let pinned = TOOLCHAIN.lines().find_map(|line| line.strip_prefix("LLVM_VERSION="));
    pinned.and_then(|number| number.trim().parse().ok()).expect("ci/toolchain has a line LLVM_VERSION=<number>")
}

/// `clang-N` on the path or where Debian puts it, or a plain `clang` of the same major version.
pub fn find_clang() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let home = Path::new("/usr/lib").join(format!("llvm-{}", llvm_version())).join("bin/clang");
    find_in(&std::env::split_paths(&path).collect::<Vec<_>>(), &home)
}

fn find_in(directories: &[PathBuf], home: &Path) -> Option<PathBuf> {
    let version = llvm_version();
    let on_path = |name: &str| directories.iter().map(|directory| directory.join(name)).find(|file| file.is_file());
    on_path(&format!("clang-{version}"))
        .or_else(|| home.is_file().then(|| home.to_owned()))
        .or_else(|| on_path("clang").filter(|clang| major_version(clang) == Some(version)))
}

fn major_version(clang: &Path) -> Option<u32> {
    let output = Command::new(clang).arg("-dumpversion").output().ok()?;
    String::from_utf8_lossy(&output.stdout).trim().split('.').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_compiler_of_another_version_is_none() {
        let directory = tempfile::tempdir().unwrap();
        let (clang, nowhere) = (directory.path().join("clang"), directory.path().join("nowhere"));
        let found = |version: u32| {
            // Another process writes it: while this one has a file open for writing, so have the children of other tests, and it cannot be run.
            let write = format!("printf '#!/bin/sh\\necho {version}.1.0\\n' > \"$0\" && chmod 755 \"$0\"");
            assert!(Command::new("sh").arg("-c").arg(write).arg(&clang).status().unwrap().success());
            find_in(&[directory.path().to_owned()], &nowhere)
        };
        assert_eq!(found(llvm_version()), Some(clang.clone()));
        assert_eq!(found(llvm_version() - 1), None);
    }

    #[test]
    #[cfg(feature = "llvm")]
    fn the_compiler_found_is_the_pinned_one() {
        assert_eq!(major_version(&find_clang().unwrap()), Some(llvm_version()));
    }
}
