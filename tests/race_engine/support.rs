//! Loading C, running the engine, and looking at what it says.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use lockcheck::engines::race::{self, RaceOptions, RaceResult};
use lockcheck::facts::Facts;
use lockcheck::findings::Reason;
use lockcheck::frontend::{LoadOptions, load};
use lockcheck::models::Models;
use lockcheck::program::Program;

/// Does `work` for all items on all cores; the results are in the order of the items.
pub fn for_all<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::new());
    let workers = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(index) else { break };
                    let result = work(item);
                    results.lock().expect("no worker panics while it adds").push((index, result));
                }
            });
        }
    });
    let mut results = results.into_inner().expect("all workers are done");
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}

pub fn load_c(file: &Path, flags: &[String]) -> Program {
    let clang_args = ["-std=gnu11".to_owned(), "-w".to_owned()].into_iter().chain(flags.iter().cloned()).collect();
    load(&[file.to_path_buf()], &LoadOptions { clang_args, ..LoadOptions::default() })
        .unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

pub fn analyse(program: &Program) -> RaceResult {
    let models = Models::embedded();
    let bound = models.bind(program);
    let facts = Facts::of(program, &bound, None);
    race::check(program, &bound, &facts, &RaceOptions::default())
}

/// What the engine says of a C text.
pub struct Said {
    pub result: RaceResult,
}

/// Compiles and checks a text; the standard headers and short words for locks stand before it, on one line.
pub fn said_of(text: &str) -> Said {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let file = directory.path().join("trap.c");
    std::fs::write(&file, format!("{HEAD}\n{text}")).expect("a program can be written");
    let program = load_c(&file, &[]);
    Said { result: analyse(&program) }
}

/// The standard headers, and short words for locks.
pub const HEAD: &str = concat!(
    "#define _GNU_SOURCE\n#include <pthread.h>\n#include <stdlib.h>\n#include <setjmp.h>\n#include <stdatomic.h>\n",
    "#define L(m) pthread_mutex_lock(&(m))\n#define U(m) pthread_mutex_unlock(&(m))\n",
    "#define MUTEX(m) pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER\n",
    "#define TWO(f, g) int main(void) { pthread_t t1, t2; pthread_create(&t1, 0, f, 0); pthread_create(&t2, 0, g, 0); ",
    "pthread_join(t1, 0); pthread_join(t2, 0); return 0; }\n",
);

impl Said {
    /// Whether a race on this object is a candidate; the object by the variable its name begins with.
    pub fn races_on(&self, object: &str) -> bool {
        self.result.candidates.iter().any(|candidate| candidate.whole == object || variable(&candidate.object) == object)
    }

    pub fn is_refuted(&self, object: &str, reason: Reason) -> bool {
        self.result
            .refuted
            .iter()
            .any(|group| (group.whole == object || variable(&group.object) == object) && group.reason == reason)
    }

    #[track_caller]
    pub fn race(&self, object: &str) -> &Said {
        assert!(self.races_on(object), "{object} races: {}", self.summary());
        self
    }

    #[track_caller]
    pub fn no_race(&self, object: &str) -> &Said {
        assert!(!self.races_on(object), "{object} does not race: {}", self.summary());
        self
    }

    /// No race, and for this reason.
    #[track_caller]
    pub fn refuted(&self, object: &str, reason: Reason) -> &Said {
        assert!(!self.races_on(object), "{object} does not race: {}", self.summary());
        assert!(self.is_refuted(object, reason), "{object} is refuted by {}: {}", reason.name(), self.summary());
        self
    }

    pub fn summary(&self) -> String {
        let mut lines = Vec::new();
        for candidate in &self.result.candidates {
            let ends: Vec<String> = candidate
                .ends
                .iter()
                .map(|end| format!("{} {} line {} holding {:?}", end.thread_name, end.role.name(), end.line().2, end.locks))
                .collect();
            lines.push(format!("candidate {} ({}): {}", candidate.object, candidate.whole, ends.join(" | ")));
        }
        for group in &self.result.refuted {
            lines.push(format!("refuted {} {} x{}: {}", group.whole, group.reason.name(), group.count, group.detail));
        }
        format!("\n{}", lines.join("\n"))
    }
}

/// The variable that an expression begins with.
pub fn variable(expression: &str) -> &str {
    let start = expression.trim_start_matches(['*', '(', '&']);
    start.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).next().unwrap_or(start)
}

pub fn examples() -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut directories = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("c-examples")];
    while let Some(directory) = directories.pop() {
        for entry in std::fs::read_dir(&directory).expect("c-examples can be listed") {
            let path = entry.expect("an entry can be read").path();
            match path.extension() {
                _ if path.is_dir() && !path.join("Makefile").exists() => directories.push(path),
                Some(extension) if extension == "c" => files.push(path),
                _ => {}
            }
        }
    }
    files.sort();
    files
}

/// The lines of all candidates, each a set of one or two.
pub fn candidate_lines(result: &RaceResult) -> BTreeSet<BTreeSet<u32>> {
    result.candidates.iter().map(|candidate| candidate.ends.iter().map(|end| end.line().2).collect()).collect()
}
