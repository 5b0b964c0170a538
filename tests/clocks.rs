//! The race detector against its naive twin: happens-before computed straight from its definition, as a closed graph of events.
//!
//! Random traces over all kinds of synchronisation. For every byte the first access that races must be the same in both, and each
//! race the detector reports, first or later, must be one by the definition.

#[path = "clocks/definition.rs"]
mod definition;
#[path = "clocks/trace.rs"]
mod trace;

use std::collections::BTreeMap;

use definition::{happens_before, racing_bytes, thread_of};
use lockcheck::explore::happens_before::{AccessKind, Actor, MemoryAccess, RaceDetector, StackId};
use lockcheck::explore::sync::SyncEvent;
use lockcheck::explore::value::ObjectId;
use lockcheck::program::SiteId;
use trace::Event::{self, Access, Sync};
use trace::World;

const TRACES: u64 = 5_000;

/// By byte: the first event that races on it.
type FirstRaces = BTreeMap<(u32, u64), usize>;

fn detect(events: &[Event], before: &[u128]) -> FirstRaces {
    let mut detector = RaceDetector::new();
    let mut first = FirstRaces::new();
    for (index, event) in events.iter().enumerate() {
        let races = match *event {
            Sync(event) => {
                detector.synchronize(&event);
                continue;
            }
            Access { thread, object, offset, size, kind } => {
                let actor = Actor { thread, site: Some(SiteId::from(index)), stack: StackId::ROOT };
                let object = ObjectId(object);
                match kind {
                    AccessKind::End => detector.end_object(object, actor),
                    _ => detector.access(&MemoryAccess { object, offset, size, kind, actor }),
                }
            }
        };
        for race in races {
            let earlier = usize::from(race.first.site.expect("all accesses here have one"));
            assert_eq!(race.second.site.map(usize::from), Some(index));
            let bytes = racing_bytes(events, before, earlier, index);
            for byte in race.offset..race.offset + race.size {
                assert!(bytes.contains(&(race.object.0, byte)), "no race of {earlier} and {index} on byte {byte} in {events:?}");
            }
            // A pair of sites is reported once an object, with the first piece of what it has in common. Traces whose data is
            // accessed byte by byte leave no other pieces.
            bytes.into_iter().for_each(|byte| {
                first.entry(byte).or_insert(index);
            });
        }
    }
    first
}

fn define(events: &[Event], before: &[u128]) -> FirstRaces {
    let mut first = FirstRaces::new();
    for later in 0..events.len() {
        for byte in (0..later).flat_map(|earlier| racing_bytes(events, before, earlier, later)) {
            first.entry(byte).or_insert(later);
        }
    }
    first
}

/// The name of an event's kind, for the count of what was covered.
fn kind_of(event: &Event) -> String {
    let text = match event {
        Sync(event) => format!("{event:?}"),
        Access { kind, .. } => format!("Bytes{kind:?}"),
    };
    let name = text.split([' ', '(']).next().unwrap_or_default().to_owned();
    match event {
        Sync(SyncEvent::Acquire { mode, .. } | SyncEvent::Release { mode, .. }) => format!("{name} {mode:?}"),
        _ => name,
    }
}

/// Every kind of event, as `kind_of` names them.
const KINDS: [&str; 31] = [
    "Acquire Exclusive",
    "Acquire Shared",
    "Release Exclusive",
    "Release Shared",
    "Fork",
    "End",
    "Join",
    "ArriveBarrier",
    "LeaveBarrier",
    "InitializeSemaphore",
    "PostSemaphore",
    "TakeSemaphore",
    "FinishOnce",
    "PassOnce",
    "Fence",
    "BeginAtomic",
    "EndAtomic",
    "BeginWait",
    "EndWait",
    "Signal",
    "Cancel",
    "ActOnCancel",
    "RegisterExitHandler",
    "RunExitHandlers",
    "BytesRead",
    "BytesWrite",
    "BytesAtomicRead",
    "BytesAtomicWrite",
    "BytesAtomicReadWrite",
    "BytesOperation",
    "BytesEnd",
];

#[test]
fn the_detector_agrees_with_the_definition() {
    let mut covered: BTreeMap<String, u64> = BTreeMap::new();
    let mut counts = BTreeMap::from([("racing bytes", 0), ("traces without a race", 0), ("ordered across threads", 0)]);
    for seed in 0..TRACES {
        let events = World::new(seed).generate();
        assert!(events.len() < 128, "a set of events is one word");
        let before = happens_before(&events);
        let (expected, found) = (define(&events, &before), detect(&events, &before));
        assert_eq!(found, expected, "seed {seed}: {events:?}");
        events.iter().for_each(|event| *covered.entry(kind_of(event)).or_default() += 1);
        *counts.get_mut("racing bytes").unwrap() += expected.len();
        *counts.get_mut("traces without a race").unwrap() += usize::from(expected.is_empty());
        *counts.get_mut("ordered across threads").unwrap() += ordered_conflicts(&events, &before);
    }
    println!("{covered:#?}\n{counts:#?}");
    for kind in KINDS {
        assert!(covered.get(kind).is_some_and(|count| *count > 300), "{kind} is too rare: {covered:#?}");
    }
    assert_eq!(covered.len(), KINDS.len(), "a kind is not in the list: {covered:#?}");
    assert!(counts.values().all(|count| *count > 300), "{counts:#?}");
}

fn ordered_conflicts(events: &[Event], before: &[u128]) -> usize {
    let unordered = vec![0; events.len()];
    let pairs = (0..events.len()).flat_map(|later| (0..later).map(move |earlier| (earlier, later)));
    pairs
        .filter(|(earlier, later)| {
            let is_conflict = !racing_bytes(events, &unordered, *earlier, *later).is_empty();
            is_conflict && thread_of(&events[*earlier]) != thread_of(&events[*later]) && before[*later] >> *earlier & 1 == 1
        })
        .count()
}
