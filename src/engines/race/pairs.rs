//! Pairs: what keeps two conflicting accesses apart?
//!
//! # Definition   Two classes conflict when their bytes may overlap, one of them writes, and not both are atomic. The reasons are tried in this order:
//!                the threads' order (one thread, fork and join), a common lock, a relative lock, a section or one-time initialisation,
//!                each thread's own part, a lock held since before the other thread was created. What is left is a candidate.
//! # Theorem      A conflicting pair that a run of the program does not order is a candidate. Each reason alone orders every two accesses of the classes.
//! # Lock held at creation   Say P holds l since a moment when no thread of C ran, and goes on holding it at its access; C's thread, a descendant of P's
//!                one instance, has taken l before its access. C's thread was created after P took l, so that C took l after P released it.

use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashMap};

use super::cover::{Common, CoverId, Covers};
use super::order::{Orders, descends};
use super::record::{ClassKey, Records, ThreadSetId};
use super::result::QuietCounts;
use crate::facts::{AbstractObjectId, AbstractObjectKind, Facts, OrderReason, PhaseId, ThreadId, ThreadKind};
use crate::locks::{Family, Place};

/// Why a pair is no race.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    OneThread,
    Threads(OrderReason),
    Lock(Place),
    Relative(Family),
    Section,
    Once(Place),
    OwnPart(ThreadId),
    HeldAtCreation(Place),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// They never touch a common byte, or not in conflict.
    NoConflict,
    Refuted(Why),
    /// Two threads that may be there at the same time.
    Candidate(ThreadId, ThreadId),
}

/// The verdict on two classes of an object, by their numbers.
#[derive(Clone, Copy, Debug)]
pub struct Judged {
    pub object: AbstractObjectId,
    pub left: usize,
    pub right: usize,
    pub verdict: Verdict,
    /// Further pairs of classes with the same verdict, for the same reason, that are only counted.
    pub more: u64,
}

/// All that was found out about pairs.
#[derive(Default)]
pub struct Judgement {
    pub judged: Vec<Judged>,
    pub quiet: QuietCounts,
    /// The classes that are an end of some candidate, and whether some other end writes.
    pub ends: FxHashMap<usize, bool>,
}

/// Classes that differ in nothing but the bytes they touch: what keeps them apart from others is the same.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct SideKey {
    is_write: bool,
    is_atomic: bool,
    threads: ThreadSetId,
    phase: PhaseId,
    cover: CoverId,
}

type Sides = IndexMap<SideKey, Vec<usize>, FxBuildHasher>;

/// More pairs of classes of two sides, or of one object, are counted and not listed.
const MOST_OF_SIDES: usize = 16;
const MOST_OF_OBJECT: usize = 1000;

pub struct Checker<'a, 'p> {
    pub facts: &'a Facts<'p>,
    pub records: &'a Records,
    pub covers: &'a Covers<'a, 'p>,
    pub orders: Orders,
}

impl Checker<'_, '_> {
    /// All conflicting pairs of classes, object by object, and how many objects need no look at pairs.
    pub fn judge(&mut self) -> Judgement {
        let records = self.records;
        let quiet = QuietCounts { thread_local: records.thread_local, ..QuietCounts::default() };
        let mut judgement = Judgement { quiet, ..Judgement::default() };
        let unknown = self.facts.points_to.object_of_kind(&AbstractObjectKind::Unknown);
        let unknown_sides = unknown
            .and_then(|unknown| records.by_object.get(&unknown))
            .map_or_else(Sides::default, |classes| self.sides(classes));
        for (object, own) in &records.by_object {
            let sides = self.sides(own);
            // What is unknown on both sides is looked at once, among the unknown.
            let is_met_by_unknown = unknown.is_some_and(|unknown| unknown != *object && self.facts.points_to.is_escaped(*object));
            let others = if is_met_by_unknown { Some(&unknown_sides) } else { None };
            let all = || sides.keys().chain(others.into_iter().flat_map(Sides::keys));
            if all().all(|side| !side.is_write) {
                judgement.quiet.only_read += 1;
            } else if all().all(|side| side.is_atomic) {
                judgement.quiet.only_atomic += 1;
            } else if self.is_of_first_thread(all()) {
                judgement.quiet.thread_local += 1;
            } else {
                let first = judgement.judged.len();
                for (position, left) in sides.iter().enumerate() {
                    for right in sides.iter().skip(position) {
                        self.judge_sides(*object, left, right, first, &mut judgement);
                    }
                    for right in others.into_iter().flatten() {
                        self.judge_sides(*object, left, right, first, &mut judgement);
                    }
                }
            }
        }
        judgement
    }

    /// Whether the program's first thread makes all the accesses: no created thread has a part in them.
    fn is_of_first_thread<'s>(&self, mut sides: impl Iterator<Item = &'s SideKey>) -> bool {
        let Some(first) = sides.next() else { return true };
        match self.records.threads(first.threads) {
            [thread] => {
                self.facts.threads.thread(*thread).kind == ThreadKind::Main && sides.all(|side| side.threads == first.threads)
            }
            _ => false,
        }
    }

    fn class(&self, index: usize) -> &ClassKey {
        self.records.classes.get_index(index).expect("a class of the table").0
    }

    fn sides(&self, classes: &[usize]) -> Sides {
        let mut sides = Sides::default();
        for index in classes {
            let ClassKey { is_write, is_atomic, threads, phase, cover, .. } = *self.class(*index);
            sides.entry(SideKey { is_write, is_atomic, threads, phase, cover }).or_default().push(*index);
        }
        sides
    }

    /// The pairs of two sides. `first` is where the object's pairs begin in the list.
    fn judge_sides(
        &mut self,
        object: AbstractObjectId,
        left: (&SideKey, &Vec<usize>),
        right: (&SideKey, &Vec<usize>),
        first: usize,
        judgement: &mut Judgement,
    ) {
        let is_conflict = (left.0.is_write || right.0.is_write) && !(left.0.is_atomic && right.0.is_atomic);
        if !is_conflict {
            return;
        }
        let is_one = std::ptr::eq(left.1, right.1);
        let is_unknown =
            |class: usize| self.facts.points_to.object(self.class(class).location.object).kind == AbstractObjectKind::Unknown;
        if is_unknown(right.1[0]) {
            return self.judge_unknown(object, left.1, right.1, is_one, judgement);
        }
        // Whatever it is for the first two that may touch a common byte, it is for all of them.
        let mut verdict = None;
        let (mut listed, mut last) = (0, None);
        for (position, one) in left.1.iter().enumerate() {
            for other in if is_one { &right.1[position..] } else { &right.1[..] } {
                let (a, b) = (self.class(*one), self.class(*other));
                if !self.facts.points_to.may_alias(a.location, a.size, b.location, b.size) {
                    continue;
                }
                let (a, b) = (*a, *b);
                let verdict = *verdict.get_or_insert_with(|| self.check(&a, &b));
                match verdict {
                    Verdict::NoConflict => return,
                    Verdict::Refuted(_) => {}
                    Verdict::Candidate(..) => {
                        *judgement.ends.entry(*one).or_default() |= b.is_write;
                        *judgement.ends.entry(*other).or_default() |= a.is_write;
                    }
                }
                if let Some(last) = last
                    && (listed >= MOST_OF_SIDES || judgement.judged.len() - first >= MOST_OF_OBJECT)
                {
                    let last: &mut Judged = &mut judgement.judged[last];
                    last.more += 1;
                } else {
                    last = Some(judgement.judged.len());
                    listed += 1;
                    judgement.judged.push(Judged { object, left: *one, right: *other, verdict, more: 0 });
                }
            }
        }
    }

    /// The pairs of two sides, one of unknown addresses: any of them may touch any byte of the other's.
    fn judge_unknown(
        &mut self,
        object: AbstractObjectId,
        left: &[usize],
        right: &[usize],
        is_one: bool,
        judgement: &mut Judgement,
    ) {
        let (a, b) = (*self.class(left[0]), *self.class(right[0]));
        let verdict = self.check(&a, &b);
        match verdict {
            Verdict::NoConflict => return,
            Verdict::Refuted(_) => {}
            Verdict::Candidate(..) => {
                left.iter().for_each(|class| *judgement.ends.entry(*class).or_default() |= b.is_write);
                right.iter().for_each(|class| *judgement.ends.entry(*class).or_default() |= a.is_write);
            }
        }
        let (ones, others) = (left.len() as u64, right.len() as u64);
        let pairs = if is_one { ones * (ones + 1) / 2 } else { ones * others };
        let listed = left.iter().enumerate().flat_map(|(position, one)| {
            let others = if is_one { &right[position..] } else { right };
            others.iter().map(move |other| Judged { object, left: *one, right: *other, verdict, more: 0 })
        });
        judgement.judged.extend(listed.take(MOST_OF_SIDES));
        if let Some(last) = judgement.judged.last_mut() {
            last.more = pairs.saturating_sub(MOST_OF_SIDES as u64);
        }
    }

    /// What keeps two classes apart that conflict and may touch a common byte.
    fn check(&mut self, left: &ClassKey, right: &ClassKey) -> Verdict {
        // One thread's two accesses are in order; those of two threads are to two instances.
        if left.location.object == right.location.object && self.covers.are_own_instances(left.cover, right.cover) {
            return Verdict::NoConflict;
        }
        let overlap = self.orders.overlap(self.facts, self.records, (left.threads, left.phase), (right.threads, right.phase));
        if overlap.pairs.is_empty() {
            return Verdict::Refuted(match overlap.reason {
                Some(OrderReason::SameThread) | None => Why::OneThread,
                Some(reason) => Why::Threads(reason),
            });
        }
        if let Some(common) = self.covers.common(left.cover, right.cover) {
            return Verdict::Refuted(match common {
                Common::Lock(place) => Why::Lock(place),
                Common::Relative(family) => Why::Relative(family),
                Common::Section => Why::Section,
                Common::Once(place) => Why::Once(place),
            });
        }
        let mut why = None;
        for (one, other) in &overlap.pairs {
            let own = own_part(self.facts, self.covers, (*one, left), (*other, right));
            let held = || held_at_creation(self.facts, self.covers, (*one, left), (*other, right));
            let held_by_other = || held_at_creation(self.facts, self.covers, (*other, right), (*one, left));
            match own.or_else(held).or_else(held_by_other) {
                Some(reason) => why = why.or(Some(reason)),
                None => return Verdict::Candidate(*one, *other),
            }
        }
        Verdict::Refuted(why.expect("some threads overlap"))
    }
}

/// Two instances of one thread, each in the part that its own argument leads to.
fn own_part(
    facts: &Facts<'_>,
    covers: &Covers<'_, '_>,
    left: (ThreadId, &ClassKey),
    right: (ThreadId, &ClassKey),
) -> Option<Why> {
    let distance = facts.threads.argument_distance(left.0).filter(|distance| left.0 == right.0 && *distance > 0)?;
    covers.own_in_common(left.1.cover, right.1.cover, distance).then_some(Why::OwnPart(left.0))
}

/// The holder's lock was taken before the waiter's thread existed, and the waiter has taken it since.
fn held_at_creation(
    facts: &Facts<'_>,
    covers: &Covers<'_, '_>,
    holder: (ThreadId, &ClassKey),
    waiter: (ThreadId, &ClassKey),
) -> Option<Why> {
    if facts.threads.thread(holder.0).is_many || !descends(facts, waiter.0, holder.0) {
        return None;
    }
    let mut locks = covers.waited_for(holder.1.cover, waiter.1.cover);
    let is_since_before = |moment: u32| {
        let phase = PhaseId::from(moment as usize);
        phase != PhaseId::ANY && !facts.threads.live(phase).contains(&waiter.0)
    };
    locks.find(|(_, moment)| is_since_before(moment.0)).map(|(place, _)| Why::HeldAtCreation(place))
}
