//! What the threads share, and the discipline that protects each of it.

use super::writer::Writer;

/// How a datum is protected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Guard {
    Mutex(String),
    Recursive(String),
    ReadWrite(String),
    Spin(String),
    /// `__VERIFIER_atomic_begin` and `end`, or a function named after them.
    Section,
    /// It is atomic itself.
    Atomic,
    /// Each thread has its own.
    Private,
    /// Touched before threads begin and after they were joined, or handed over by a protocol.
    Owner,
}

#[derive(Clone, Debug)]
pub struct Datum {
    /// An `int` as the worker's code names it.
    pub place: String,
    /// The same for `main`; `None` where it has no name there.
    pub in_main: Option<String>,
    pub guard: Guard,
}

/// What is handed to the workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Argument {
    Nothing,
    /// A number: 0 for the first worker, and another one or the same for the others.
    Index {
        is_same: bool,
    },
    /// An object on the heap.
    Node {
        is_same: bool,
    },
}

pub struct Data {
    pub data: Vec<Datum>,
    pub argument: Argument,
}

const MUTEX: &str = "PTHREAD_MUTEX_INITIALIZER";

pub fn choose(writer: &mut Writer) -> Data {
    let argument = match writer.random.below(6) {
        0 | 1 => Argument::Index { is_same: writer.chance(70) },
        2 => Argument::Node { is_same: writer.chance(60) },
        _ => Argument::Nothing,
    };
    let mut data = match argument {
        Argument::Nothing => Vec::new(),
        Argument::Index { .. } => vec![elements(writer)],
        Argument::Node { .. } => vec![node(writer)],
    };
    let wanted = 1 + writer.random.below(2) as usize + usize::from(data.is_empty() && writer.chance(30));
    for kind in 0.. {
        if data.len() >= wanted {
            break;
        }
        let datum = match writer.random.below(10) {
            0 | 1 if kind < 2 => account(writer),
            2 => private(writer),
            3 => atomic(writer),
            4 => constant_elements(writer),
            _ => plain(writer),
        };
        data.push(datum);
    }
    Data { data, argument }
}

fn plain(writer: &mut Writer) -> Datum {
    let place = writer.name("x");
    writer.global(&format!("static int {place};"));
    let guard = match writer.random.below(13) {
        0..=3 => {
            writer.cover("global-mutex");
            writer.global(&format!("static pthread_mutex_t m = {MUTEX};"));
            Guard::Mutex("m".to_owned())
        }
        4 | 5 => {
            writer.cover("recursive-mutex");
            writer.global("static pthread_mutex_t r = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;");
            Guard::Recursive("r".to_owned())
        }
        6 | 7 => {
            writer.cover("read-write-lock");
            writer.global("static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;");
            Guard::ReadWrite("rw".to_owned())
        }
        8 => {
            writer.cover("spin-lock");
            writer.global("static pthread_spinlock_t s;");
            let init = "pthread_spin_init(&s, PTHREAD_PROCESS_PRIVATE);".to_owned();
            if !writer.beginning.contains(&init) {
                writer.beginning.push(init);
            }
            Guard::Spin("s".to_owned())
        }
        9 => {
            writer.cover("atomic-section");
            Guard::Section
        }
        _ => {
            writer.cover("owner");
            Guard::Owner
        }
    };
    Datum { in_main: Some(place.clone()), place, guard }
}

/// A lock that lies beside what it protects.
fn account(writer: &mut Writer) -> Datum {
    writer.cover("lock-in-struct");
    let name = writer.name("account");
    writer.global(&format!("static struct {{ pthread_mutex_t lock; int balance; }} {name} = {{{MUTEX}, 0}};"));
    let place = format!("{name}.balance");
    Datum { in_main: Some(place.clone()), place, guard: Guard::Mutex(format!("{name}.lock")) }
}

/// The lock of an element is found by the same index.
fn elements(writer: &mut Writer) -> Datum {
    writer.cover("lock-array-variable-index");
    writer.global("static int data[2];");
    writer.global(&format!("static pthread_mutex_t locks[2] = {{{MUTEX}, {MUTEX}}};"));
    if writer.breaks(20, "broken-fixed-element") {
        return Datum {
            place: "data[0]".to_owned(),
            in_main: Some("data[0]".to_owned()),
            guard: Guard::Mutex("locks[i]".to_owned()),
        };
    }
    Datum { place: "data[i]".to_owned(), in_main: Some("data[0]".to_owned()), guard: Guard::Mutex("locks[i]".to_owned()) }
}

fn constant_elements(writer: &mut Writer) -> Datum {
    writer.cover("lock-array-constant-index");
    writer.global("static int data[2];");
    writer.global(&format!("static pthread_mutex_t locks[2] = {{{MUTEX}, {MUTEX}}};"));
    let (element, lock) = (writer.pick(&["data[0]", "data[1]"]), writer.pick(&["locks[0]", "locks[1]"]));
    // Another variable than the elements that an index chooses.
    let (element, lock) = if element == "data[0]" { (element, "locks[0]") } else { (element, lock) };
    let lock = if element == "data[1]" && !lock.ends_with("[1]") { "locks[1]" } else { lock };
    Datum { place: element.to_owned(), in_main: Some(element.to_owned()), guard: Guard::Mutex(lock.to_owned()) }
}

fn node(writer: &mut Writer) -> Datum {
    writer.cover("heap-argument");
    writer.header("#include <stdlib.h>");
    writer.global("struct node { pthread_mutex_t lock; int value; };");
    Datum { place: "p->value".to_owned(), in_main: Some("node->value".to_owned()), guard: Guard::Mutex("p->lock".to_owned()) }
}

fn private(writer: &mut Writer) -> Datum {
    writer.cover("thread-local");
    let place = writer.name("mine");
    writer.global(&format!("static _Thread_local int {place};"));
    Datum { in_main: Some(place.clone()), place, guard: Guard::Private }
}

fn atomic(writer: &mut Writer) -> Datum {
    writer.cover("atomic-variable");
    writer.header("#include <stdatomic.h>");
    let place = writer.name("a");
    writer.global(&format!("static atomic_int {place};"));
    Datum { in_main: Some(place.clone()), place, guard: Guard::Atomic }
}
