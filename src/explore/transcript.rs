//! The transcript of a run: what each thread did, in words, for the person who replays a schedule.
//!
//! Shown are all synchronisation, input and output, and the accesses to memory that at least two threads touch in the run.

use std::collections::{BTreeMap, BTreeSet};

use super::bugs::{self, Bug, Key, Names, Touch};
use super::environment::Stream;
use super::machine::{Event, EventKind, Machine, Observer};
use super::sync::{HeldLock, SyncEvent, SyncKey};
use super::thread_id::ThreadId;
use super::value::{ObjectId, ScalarValue, Value};
use crate::findings::{Step, StepKind};
use crate::program::{Scalar, SiteId};

/// An event as it was seen; names are looked up when the run is over.
struct Seen {
    thread: ThreadId,
    site: Option<SiteId>,
    what: What,
    held: Vec<HeldLock>,
}

enum What {
    Access {
        object: ObjectId,
        generation: u32,
        offset: u64,
        size: u64,
        is_write: bool,
        value: String,
    },
    Synchronization(SyncEvent),
    Blocked,
    Created(ThreadId),
    Output(String),
    Input {
        what: String,
        value: String,
    },
    Finished,
    /// A bug became visible: the number of the race or of the misuse.
    Race(usize),
    Misuse(usize),
}

/// Watches a run.
#[derive(Default)]
pub struct Transcript {
    seen: Vec<Seen>,
    /// Which threads touched which object, by its number and generation.
    touched_by: BTreeMap<(ObjectId, u32), BTreeSet<ThreadId>>,
    /// How many races and misuses have been noted.
    races: usize,
    misuses: usize,
}

impl Observer for Transcript {
    fn event(&mut self, machine: &Machine<'_>, event: &Event<'_>) {
        if let Some(what) = self.what(machine, &event.kind) {
            if let What::Access { object, generation, .. } = &what {
                self.touched_by.entry((*object, *generation)).or_default().insert(event.thread);
            }
            self.seen.push(Seen {
                thread: event.thread,
                site: event.site,
                what,
                held: machine.sync.held_by(event.thread).to_vec(),
            });
        }
        self.note_bugs(machine, event.thread, event.site);
    }
}

impl Transcript {
    fn what(&self, machine: &Machine<'_>, kind: &EventKind<'_>) -> Option<What> {
        let access = |address: &super::value::Pointer, size: u64, value: Option<&Value>, is_write: bool| {
            let object = address.object.or_else(|| machine.memory.object_at(address.address))?;
            let offset = address.address.wrapping_sub(machine.memory.object(object).base);
            let generation = machine.memory.object(object).generation;
            Some(What::Access { object, generation, offset, size, is_write, value: value.map_or("…".to_owned(), value_text) })
        };
        match kind {
            EventKind::Read { address, size, value, .. } => access(address, *size, *value, false),
            EventKind::Write { address, size, value, .. } => access(address, *size, *value, true),
            EventKind::Synchronization(event) => Some(What::Synchronization(*event)),
            EventKind::Blocked { .. } => Some(What::Blocked),
            EventKind::Created { thread } => Some(What::Created(*thread)),
            EventKind::Output { stream: Stream::Output | Stream::Error, bytes } => {
                Some(What::Output(String::from_utf8_lossy(bytes).into_owned()))
            }
            EventKind::Choice { what, bits, value } => {
                let value = value_text(&Value::integer(*bits, *value));
                Some(What::Input { what: (*what).to_owned(), value })
            }
            EventKind::ThreadFinished => Some(What::Finished),
            EventKind::Fence { .. }
            | EventKind::Call { .. }
            | EventKind::Return { .. }
            | EventKind::LibraryCall { .. }
            | EventKind::LibraryReturn { .. } => None,
        }
    }

    /// A race or misuse stands right behind the event that made it.
    fn note_bugs(&mut self, machine: &Machine<'_>, thread: ThreadId, site: Option<SiteId>) {
        let races = (self.races..machine.races.len()).map(What::Race);
        let new: Vec<What> = races.chain((self.misuses..machine.misuses.len()).map(What::Misuse)).collect();
        self.seen.extend(new.into_iter().map(|what| Seen { thread, site, what, held: Vec::new() }));
        (self.races, self.misuses) = (machine.races.len(), machine.misuses.len());
    }

    /// The steps in words, with the bugs where they become visible; and each of these bugs once.
    pub fn finish(self, machine: &Machine<'_>) -> (Vec<Step>, Vec<Bug>) {
        let names = Names::new(machine);
        let mut steps: Vec<Step> = Vec::new();
        let mut told: BTreeSet<Key> = BTreeSet::new();
        for seen in &self.seen {
            if let Some(bug) = bug_of(&names, &seen.what) {
                if told.insert(bug.key()) {
                    steps.push(bug_step(&names, &bug));
                }
                continue;
            }
            let Some(kind) = self.describe(&names, seen) else { continue };
            let step = step(&names, seen.thread, seen.site, kind, &seen.held);
            if steps.last() != Some(&step) {
                steps.push(step);
            }
        }
        if let Some(bug) = bugs::of_end(&names) {
            steps.push(bug_step(&names, &bug));
        }
        let mut bugs: BTreeMap<Key, Bug> = BTreeMap::new();
        for bug in bugs::shown_by(machine) {
            match bugs.get(&bug.key()) {
                Some(known) if known.weakness() <= bug.weakness() => {}
                _ => {
                    bugs.insert(bug.key(), bug);
                }
            }
        }
        (steps, bugs.into_values().collect())
    }

    fn describe(&self, names: &Names<'_>, seen: &Seen) -> Option<StepKind> {
        Some(match &seen.what {
            What::Access { object, generation, offset, size, is_write, value } => {
                let is_shared = self.touched_by.get(&(*object, *generation)).is_some_and(|threads| threads.len() > 1);
                if !is_shared {
                    return None;
                }
                let object = names.part(*object, *offset, *size, Touch { site: seen.site, is_write: *is_write }).0;
                let value = value.clone();
                if *is_write { StepKind::Write { object, value } } else { StepKind::Read { object, value } }
            }
            What::Synchronization(event) => return synchronization(names, event, seen.site),
            What::Blocked => StepKind::Blocked { on: seen.site.map_or(String::new(), |site| names.call(site)) },
            What::Created(thread) => StepKind::Create { thread: names.thread(*thread) },
            What::Output(text) => StepKind::Output { text: text.clone() },
            What::Input { what, value } => StepKind::Input { what: what.clone(), value: value.clone() },
            What::Finished => StepKind::End,
            What::Race(_) | What::Misuse(_) => return None,
        })
    }
}

fn bug_of(names: &Names<'_>, what: &What) -> Option<Bug> {
    match what {
        What::Race(number) => Some(bugs::of_race(names, *number)),
        What::Misuse(number) => Some(bugs::of_misuse(names, *number)),
        _ => None,
    }
}

fn bug_step(names: &Names<'_>, bug: &Bug) -> Step {
    let end = bug.ends.last();
    let of_end = |id: &ThreadId| end.is_some_and(|end| names.thread(*id) == end.thread);
    let thread = names.machine().threads().map(|thread| thread.id).find(of_end).unwrap_or(ThreadId::MAIN);
    Step {
        thread: thread.0,
        thread_name: names.thread(thread),
        place: end.and_then(|end| end.place.clone()),
        function: end.map_or(String::new(), |end| end.function.clone()),
        kind: StepKind::Bug { message: bug.message.clone() },
        held: Vec::new(),
    }
}

fn step(names: &Names<'_>, thread: ThreadId, site: Option<SiteId>, kind: StepKind, held: &[HeldLock]) -> Step {
    Step {
        thread: thread.0,
        thread_name: names.thread(thread),
        place: site.and_then(|site| names.program.place_of(site)),
        function: site.map_or(String::new(), |site| names.function(site)),
        kind,
        held: names.held(held).into_iter().map(|lock| lock.name).collect(),
    }
}

/// `None` for events that another step tells already.
fn synchronization(names: &Names<'_>, event: &SyncEvent, site: Option<SiteId>) -> Option<StepKind> {
    let name = |key: &SyncKey| names.primitive(*key, site);
    let other = |what: String| Some(StepKind::Other { what });
    match event {
        SyncEvent::Acquire { lock, .. } => Some(StepKind::Acquire { lock: name(lock) }),
        SyncEvent::Release { lock, .. } => Some(StepKind::Release { lock: name(lock) }),
        SyncEvent::Join { ended, .. } => Some(StepKind::Join { thread: names.thread(*ended) }),
        SyncEvent::ArriveBarrier { barrier, .. } => other(format!("arrives at {}", name(barrier))),
        SyncEvent::LeaveBarrier { barrier, .. } => other(format!("leaves {}", name(barrier))),
        SyncEvent::PostSemaphore { semaphore, .. } => other(format!("posts {}", name(semaphore))),
        SyncEvent::TakeSemaphore { semaphore, .. } => other(format!("takes one of {}", name(semaphore))),
        SyncEvent::FinishOnce { control, .. } => other(format!("finishes {}", name(control))),
        SyncEvent::PassOnce { control, .. } => other(format!("passes {}", name(control))),
        SyncEvent::BeginAtomic { .. } => other("begins an atomic section".to_owned()),
        SyncEvent::EndAtomic { .. } => other("ends an atomic section".to_owned()),
        SyncEvent::BeginWait { condition, .. } => other(format!("waits on {}", name(condition))),
        SyncEvent::EndWait { condition, .. } => other(format!("wakes from {}", name(condition))),
        SyncEvent::Signal { condition, woken: Some(woken), .. } => {
            other(format!("signals {}: {} wakes", name(condition), names.thread(*woken)))
        }
        SyncEvent::Signal { condition, woken: None, .. } => other(format!("signals {}: nobody waits", name(condition))),
        SyncEvent::Cancel { target, .. } => other(format!("cancels {}", names.thread(*target))),
        SyncEvent::ActOnCancel { .. } => other("is cancelled".to_owned()),
        SyncEvent::RunExitHandlers { .. } => other("runs exit handlers".to_owned()),
        SyncEvent::Fence { .. } => other("fence".to_owned()),
        SyncEvent::Fork { .. }
        | SyncEvent::End { .. }
        | SyncEvent::InitializeSemaphore { .. }
        | SyncEvent::RegisterExitHandler { .. } => None,
    }
}

/// A value as C would write it.
fn value_text(value: &Value) -> String {
    match value {
        Value::Scalar(scalar) => scalar_text(scalar),
        Value::Vector(lanes) => format!("{{{}}}", lanes.iter().map(scalar_text).collect::<Vec<_>>().join(", ")),
        Value::Aggregate(bytes) => format!("{} bytes", bytes.data.len()),
    }
}

fn scalar_text(scalar: &ScalarValue) -> String {
    match scalar {
        ScalarValue::Integer { bits, value } if *bits > 1 && *bits <= 128 => {
            let shift = 128 - bits;
            (((*value << shift) as i128) >> shift).to_string()
        }
        ScalarValue::Integer { value, .. } => value.to_string(),
        ScalarValue::WideInteger { bits, .. } => format!("a number of {bits} bits"),
        ScalarValue::Float { kind: Scalar::Double, bits } => f64::from_bits(*bits as u64).to_string(),
        ScalarValue::Float { kind: Scalar::Float, bits } => f32::from_bits(*bits as u32).to_string(),
        ScalarValue::Float { bits, .. } => format!("{bits:#x}"),
        ScalarValue::Pointer(pointer) if pointer.is_null() => "NULL".to_owned(),
        ScalarValue::Pointer(pointer) => format!("{:#x}", pointer.address),
        ScalarValue::Undef(_) | ScalarValue::Poison(_) => "undefined".to_owned(),
    }
}
