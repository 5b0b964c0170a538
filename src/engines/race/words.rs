//! Why two accesses are no race, in words that a C programmer can check in the source.

use super::pairs::Why;
use super::report::Reporter;
use super::result::Side;
use crate::facts::{AbstractObjectKind, OrderReason, ThreadId};
use crate::findings::Reason;
use crate::program::Program;

impl Reporter<'_, '_, '_> {
    /// One sentence that a C programmer can check.
    pub(super) fn detail(&self, why: Why, object: &str, ends: &[Side]) -> String {
        let identity = &self.tabulation.identity;
        let thread = |thread: ThreadId| self.names.thread(thread).to_owned();
        let place = |place| self.names.place(identity, place, crate::thread_pds::holding::Identity::NOWHERE);
        match why {
            Why::OneThread => format!("both accesses to {object} are made by the same thread"),
            Why::Threads(OrderReason::SameThread) => format!("both accesses to {object} are made by the same thread"),
            Why::Threads(OrderReason::NotRunning { ancestor, descendant, site }) => {
                let created =
                    site.and_then(|site| self.names.line(site)).map_or(String::new(), |line| format!(" (created at {line})"));
                format!(
                    "{} accesses {object} when {}{created} has not been created yet, or has been joined",
                    thread(ancestor),
                    thread(descendant)
                )
            }
            Why::Threads(OrderReason::Joined { first, second }) => {
                format!("{} has been joined before {} accesses {object}", thread(first), thread(second))
            }
            Why::Threads(OrderReason::OneAfterAnother { left, right }) => {
                format!(
                    "{} and {} never run at the same time: one has ended when the other is created",
                    thread(left),
                    thread(right)
                )
            }
            Why::Threads(OrderReason::Barrier { barrier, first, second }) => {
                let barrier = self.names.whole(barrier);
                let (first, second) = (thread(first), thread(second));
                format!(
                    "{first} accesses {object} before it comes to {barrier}, {second} after it has passed it; nobody passes before all have come"
                )
            }
            Why::Lock(lock) => {
                format!("{} is held at both accesses to {object}", common_lock(ends).unwrap_or_else(|| place(lock)))
            }
            Why::Relative(family) => {
                let lock = self.names.family(identity, family);
                format!("both hold the lock that belongs to the accessed {object}: {lock}")
            }
            Why::Section => format!("both accesses to {object} are inside atomic sections"),
            Why::Once(control) => {
                format!("{object} is accessed by the routine that runs once under {}, and by others after it", place(control))
            }
            Why::Permit(semaphore) => format!("both accesses to {object} are made with the one permit of {}", place(semaphore)),
            Why::Handed(semaphore) => {
                let semaphore = place(semaphore);
                format!("{object} is accessed before the first post to {semaphore}, and in the other thread after a wait for it")
            }
            Why::OwnPart(id) => format!(
                "every {} was created with an argument of its own, and accesses the part of {object} that belongs to it",
                thread(id)
            ),
            Why::NextPart(id) => format!(
                "every {0} was created with an argument of its own, and accesses the part of {object} that belongs to it; the other access is to the part of the {0} that is created next",
                thread(id)
            ),
            Why::Signal(handler) => format!(
                "{object} is a volatile sig_atomic_t: {}, and the thread that it interrupts may both access it",
                thread(handler)
            ),
            Why::HeldFor(held, id) => format!(
                "{} holds {} for as long as {} runs, and the other access to {object} is made while that lock is held as well",
                thread(held.by),
                place(held.lock),
                thread(id)
            ),
            Why::HeldAtCreation(lock) => {
                let names: Vec<&str> = ends.iter().map(|end| end.thread_name.as_str()).collect();
                format!(
                    "one of {} holds {} since before it created the other, which has waited for it before it accesses {object}",
                    names.join(" and "),
                    place(lock)
                )
            }
        }
    }
}

/// What is wrong with a race inside a library function, which has no lines of its own.
pub fn of_library(program: &Program, kind: &AbstractObjectKind) -> String {
    match kind {
        AbstractObjectKind::Library(function) => {
            let name = &program.functions[*function].source_name;
            format!("; no standard promises that {name} may be called, or what it gave be read, while another thread calls it")
        }
        _ => String::new(),
    }
}

pub fn reason_of(why: Why) -> Reason {
    match why {
        Why::OneThread => Reason::SingleInstance,
        Why::Threads(OrderReason::Barrier { .. }) => Reason::HappensBefore,
        Why::Threads(_) => Reason::ForkJoin,
        Why::Lock(_) | Why::Section => Reason::CommonLock,
        Why::Relative(_) => Reason::RelativeLock,
        Why::Once(_) | Why::Permit(_) | Why::Handed(_) => Reason::HappensBefore,
        Why::OwnPart(_) | Why::NextPart(_) => Reason::ThreadPartition,
        Why::HeldAtCreation(_) => Reason::LockHistory,
        Why::HeldFor(..) => Reason::CommonLock,
        Why::Signal(_) => Reason::SignalAtomic,
    }
}

/// The one lock of both ends, as the program writes it.
fn common_lock(ends: &[Side]) -> Option<String> {
    let [one, other] = ends else { return None };
    let ([lock], [same]) = (&one.locks[..], &other.locks[..]) else { return None };
    (lock.name == same.name).then(|| lock.name.clone())
}
