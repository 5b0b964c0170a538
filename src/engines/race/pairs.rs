//! Pairs: what keeps two conflicting accesses apart?
//!
//! # Definition   Two classes conflict when their bytes may overlap, their types let them (`program::alias`), one of them writes, and not both are atomic. The reasons are tried in this order:
//!                the threads' order (one thread, fork and join), a common lock, a relative lock, a section or one-time initialisation,
//!                each thread's own part, a lock held since before the other thread was created, a lock that a creator holds for its thread, an object that signal handlers may touch. What is left is a candidate.
//! # Theorem      A conflicting pair that a run of the program does not order is a candidate. Each reason alone orders every two accesses of the classes.

use std::mem::{Discriminant, discriminant};

use fixedbitset::FixedBitSet;
use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

use super::common::Common;
use super::cover::{CoverId, Covers};
use super::creation::HeldFor;
use super::excuses::excuse;
use super::extents::{ExtentSetId, Extents};
use super::order::{Orders, Overlap, Point, PointSetId};
use super::record::{ClassKey, Records};
use super::result::QuietCounts;
use super::streams::hidden_streams;
use crate::deadline::{Deadline, OutOfTime};
use crate::facts::accesses::WHOLE;
use crate::facts::{AbstractObjectId, AbstractObjectKind, Facts, OrderReason, ThreadId};
use crate::locks::{Family, Place};
use crate::program::Program;

/// Why a pair is no race.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    OneThread,
    Threads(OrderReason),
    Lock(Place),
    Relative(Family),
    Section,
    Once(Place),
    Permit(Place),
    Handed(Place),
    OwnPart(ThreadId),
    /// The creator of this thread accesses what belongs to the instance that it creates next.
    NextPart(ThreadId),
    HeldAtCreation(Place),
    /// This handler assigns to an object that handlers may touch.
    Signal(ThreadId),
    /// Held for this thread by its creator, and by the other access's thread itself, or for it.
    HeldFor(HeldFor, ThreadId),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// They never touch a common byte, or not in conflict.
    NoConflict,
    Refuted(Why),
    Candidate,
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
    pub ends: Ends,
}

/// The classes that are an end of some candidate, and whether some other end overwrites: writes, and others may go on using the bytes.
#[derive(Default)]
pub struct Ends {
    of_any: FixedBitSet,
    of_overwrite: FixedBitSet,
}

impl Ends {
    fn note(&mut self, classes: &[usize], other: &SideKey) {
        for class in classes {
            self.of_any.grow_and_insert(*class);
            if other.overwrites() {
                self.of_overwrite.grow_and_insert(*class);
            }
        }
    }

    /// Ascending.
    pub fn iter(&self) -> impl Iterator<Item = (usize, bool)> + '_ {
        self.of_any.ones().map(|class| (class, self.of_overwrite.contains(class)))
    }
}

/// Classes that differ in nothing but the bytes they touch: what keeps them apart from others is the same.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct SideKey {
    is_write: bool,
    is_atomic: bool,
    is_last: bool,
    points: PointSetId,
    cover: CoverId,
}

impl SideKey {
    fn conflicts_with(&self, other: &SideKey) -> bool {
        (self.is_write || other.is_write) && !(self.is_atomic && other.is_atomic)
    }

    /// Writes, and others may go on using the bytes.
    fn overwrites(&self) -> bool {
        self.is_write && !self.is_last
    }
}

/// The classes of one side.
#[derive(Default)]
struct Side {
    classes: Vec<usize>,
    /// The bytes they touch; of an object that is looked at.
    extents: ExtentSetId,
}

type Sides = IndexMap<SideKey, Side, FxBuildHasher>;

/// The extents that a side shares with candidates, by the sets that these may meet: of any, and of those whose other end overwrites.
#[derive(Default)]
struct Met {
    of_any: FxHashSet<ExtentSetId>,
    of_overwrite: FxHashSet<ExtentSetId>,
}

impl Met {
    fn note(&mut self, other: (&SideKey, ExtentSetId)) {
        self.of_any.insert(other.1);
        if other.0.overwrites() {
            self.of_overwrite.insert(other.1);
        }
    }
}

/// More pairs of classes of one object with the same reason, or without any, are counted and not listed.
const MOST_REFUTED: usize = 64;
const MOST_CANDIDATES: usize = 1000;
/// More pairs of two sides, one of unknown addresses, are counted and not listed.
const MOST_OF_SIDES: usize = 16;

/// What is listed of one object: by kind of verdict, how many and the last.
#[derive(Default)]
struct Listing {
    kinds: FxHashMap<Option<Discriminant<Why>>, (usize, usize)>,
}

impl Listing {
    fn add(&mut self, judgement: &mut Judgement, judged: Judged) {
        let (kind, most) = Self::kind(&judged.verdict);
        let (count, last) = self.kinds.entry(kind).or_default();
        if *count >= most {
            judgement.judged[*last].more += 1;
        } else {
            *count += 1;
            *last = judgement.judged.len();
            judgement.judged.push(judged);
        }
    }

    /// How many more are listed.
    fn room(&self, verdict: &Verdict) -> usize {
        let (kind, most) = Self::kind(verdict);
        self.kinds.get(&kind).map_or(most, |(count, _)| most.saturating_sub(*count))
    }

    /// Counts pairs like one that was listed.
    fn count(&mut self, judgement: &mut Judgement, verdict: Verdict, pairs: u64) {
        if let Some((_, last)) = self.kinds.get(&Self::kind(&verdict).0) {
            judgement.judged[*last].more += pairs;
        }
    }

    fn kind(verdict: &Verdict) -> (Option<Discriminant<Why>>, usize) {
        match verdict {
            Verdict::Refuted(why) => (Some(discriminant(why)), MOST_REFUTED),
            Verdict::Candidate | Verdict::NoConflict => (None, MOST_CANDIDATES),
        }
    }
}

pub struct Checker<'a, 'f, 'p> {
    pub program: &'a Program,
    pub facts: &'a Facts<'p>,
    pub records: &'a Records,
    pub covers: &'a Covers<'a, 'p>,
    pub orders: &'a mut Orders<'f, 'p>,
    /// By object; kept for the rounds to come.
    pub extents: &'a mut FxHashMap<AbstractObjectId, Extents>,
    /// By class: the number of its extent, as soon as its object is looked at.
    pub numbers: Vec<usize>,
    /// What keeps two sides apart, whatever the bytes; asked of many objects, and in all rounds.
    pub verdicts: &'a mut Verdicts,
}

/// What is known of the points and the cover of one side, with those of others: a side is compared with all of them in turn.
pub type Verdicts = FxHashMap<(PointSetId, CoverId), VerdictsOfOne>;

/// By points and cover of the other side, and whether both touch the same object.
type VerdictsOfOne = FxHashMap<(PointSetId, CoverId, bool), Verdict>;

impl Checker<'_, '_, '_> {
    /// All conflicting pairs of classes, object by object, and how many objects need no look at pairs.
    pub fn judge(&mut self, deadline: Deadline) -> Result<Judgement, OutOfTime> {
        let records = self.records;
        let quiet = QuietCounts { thread_local: records.thread_local, ..QuietCounts::default() };
        let mut judgement = Judgement { quiet, ..Judgement::default() };
        let unknown = self.facts.points_to.object_of_kind(&AbstractObjectKind::Unknown);
        let unknown_sides = unknown
            .and_then(|unknown| records.by_object.get(&unknown))
            .map_or_else(Sides::default, |classes| self.sides(classes));
        let streams = hidden_streams(self.program, self.facts);
        for (object, own) in &records.by_object {
            deadline.check()?;
            let mut sides = self.sides(own);
            // What is unknown on both sides is looked at once, among the unknown.
            let is_met_by_unknown = unknown.is_some_and(|unknown| {
                unknown != *object && self.facts.points_to.may_be_returned(*object) && !streams.contains(object)
            });
            let others = if is_met_by_unknown { Some(&unknown_sides) } else { None };
            let all = || sides.keys().chain(others.into_iter().flat_map(Sides::keys));
            if all().all(|side| !side.is_write) {
                judgement.quiet.only_read += 1;
            } else if all().all(|side| side.is_atomic) {
                judgement.quiet.only_atomic += 1;
            } else if self.is_of_first_thread(all()) {
                judgement.quiet.thread_local += 1;
            } else {
                let mut extents = self.extents.remove(object).unwrap_or_default();
                self.fill(&mut sides, &mut extents, deadline)?;
                self.judge_object(*object, &sides, others, &mut extents, &mut judgement, deadline)?;
                extents.end_round();
                self.extents.insert(*object, extents);
            }
        }
        Ok(judgement)
    }

    /// Whether the program's first thread makes all the accesses: no created thread has a part in them.
    fn is_of_first_thread<'s>(&self, mut sides: impl Iterator<Item = &'s SideKey>) -> bool {
        sides.all(|side| self.orders.is_of_first_thread(side.points))
    }

    fn class(&self, index: usize) -> &ClassKey {
        self.records.classes.get_index(index).expect("a class of the table").0
    }

    fn sides(&self, classes: &[usize]) -> Sides {
        let mut sides = Sides::default();
        for index in classes {
            let ClassKey { is_write, is_atomic, is_last, points, cover, .. } = *self.class(*index);
            sides.entry(SideKey { is_write, is_atomic, is_last, points, cover }).or_default().classes.push(*index);
        }
        sides
    }

    /// Finds out which bytes the sides touch.
    fn fill(&mut self, sides: &mut Sides, extents: &mut Extents, deadline: Deadline) -> Result<(), OutOfTime> {
        for side in sides.values_mut() {
            deadline.check_steps()?;
            for class in &side.classes {
                self.numbers[*class] = extents.add(self.program, self.facts, self.class(*class));
            }
        }
        for side in sides.values_mut() {
            side.extents = extents.set(side.classes.iter().map(|class| self.numbers[*class]));
        }
        Ok(())
    }

    /// The pairs of all sides of an object, and with the sides of unknown addresses that may meet it.
    fn judge_object(
        &mut self,
        object: AbstractObjectId,
        sides: &Sides,
        others: Option<&Sides>,
        extents: &mut Extents,
        judgement: &mut Judgement,
        deadline: Deadline,
    ) -> Result<(), OutOfTime> {
        let is_unknown = self.facts.points_to.object(object).kind == AbstractObjectKind::Unknown;
        let mut listing = Listing::default();
        let mut met: Vec<Met> = sides.iter().map(|_| Met::default()).collect();
        for (position, left) in sides.iter().enumerate() {
            deadline.check_steps()?;
            let standing = (left.0.points, left.0.cover);
            let mut verdicts = self.verdicts.remove(&standing).unwrap_or_default();
            for (other, right) in sides.iter().enumerate().skip(position) {
                if !left.0.conflicts_with(right.0) {
                    continue;
                }
                let pair = (left, right);
                if is_unknown {
                    self.judge_unknown(object, pair, &mut verdicts, &mut listing, judgement);
                } else if self.judge_sides(object, pair, extents, &mut verdicts, &mut listing, judgement) {
                    met[position].note((right.0, right.1.extents));
                    met[other].note((left.0, left.1.extents));
                }
            }
            for right in others.into_iter().flatten().filter(|right| left.0.conflicts_with(right.0)) {
                self.judge_unknown(object, (left, right), &mut verdicts, &mut listing, judgement);
            }
            self.verdicts.insert(standing, verdicts);
        }
        for (side, met) in sides.values().zip(met) {
            let is_near = |sets: &FxHashSet<ExtentSetId>, class: &usize| {
                sets.iter().any(|set| extents.near(*set).contains(self.numbers[*class]))
            };
            let near = |sets: FxHashSet<ExtentSetId>| side.classes.iter().copied().filter(move |class| is_near(&sets, class));
            near(met.of_any).for_each(|class| judgement.ends.of_any.grow_and_insert(class));
            near(met.of_overwrite).for_each(|class| judgement.ends.of_overwrite.grow_and_insert(class));
        }
        Ok(())
    }

    /// The pairs of two sides in conflict. Whether they are candidates.
    fn judge_sides(
        &mut self,
        object: AbstractObjectId,
        (left, right): ((&SideKey, &Side), (&SideKey, &Side)),
        extents: &mut Extents,
        verdicts: &mut VerdictsOfOne,
        listing: &mut Listing,
        judgement: &mut Judgement,
    ) -> bool {
        // What is near is so from either side: each extent stands for one class of a side.
        let mut pairs = extents.meetings(left.1.extents, right.1.extents);
        if pairs == 0 {
            return false;
        }
        let verdict = self.check(left, right, true, verdicts);
        if verdict == Verdict::NoConflict {
            return false;
        }
        let is_one = std::ptr::eq(left.1, right.1);
        if is_one {
            // Each pair was met from either end, but for a class with itself.
            pairs = (pairs + left.1.classes.len() as u64) / 2;
        }
        let mut room = listing.room(&verdict);
        let near_right = extents.near(right.1.extents);
        'listed: for (position, one) in left.1.classes.iter().enumerate() {
            if room == 0 {
                break;
            }
            if !near_right.contains(self.numbers[*one]) {
                continue;
            }
            let near = extents.neighbours(self.numbers[*one]);
            let others = if is_one { &right.1.classes[position..] } else { &right.1.classes[..] };
            for other in others.iter().filter(|other| near.contains(self.numbers[**other])) {
                if room == 0 {
                    break 'listed;
                }
                listing.add(judgement, Judged { object, left: *one, right: *other, verdict, more: 0 });
                (pairs, room) = (pairs - 1, room - 1);
            }
        }
        listing.count(judgement, verdict, pairs);
        verdict == Verdict::Candidate
    }

    /// The pairs of two sides, one of unknown addresses: any of them may touch any byte of the other's.
    fn judge_unknown(
        &mut self,
        object: AbstractObjectId,
        (left, right): ((&SideKey, &Side), (&SideKey, &Side)),
        verdicts: &mut VerdictsOfOne,
        listing: &mut Listing,
        judgement: &mut Judgement,
    ) {
        // An access never reaches beyond its object.
        let size = self.facts.points_to.object(object).size.unwrap_or(WHOLE);
        let fits = |class: &usize| self.class(*class).size <= size || self.class(*class).size == WHOLE;
        let others: Vec<usize> = right.1.classes.iter().copied().filter(fits).collect();
        if others.is_empty() {
            return;
        }
        let is_one = std::ptr::eq(left.1, right.1);
        let is_one_object = self.class(left.1.classes[0]).location.object == self.class(others[0]).location.object;
        let verdict = self.check(left, right, is_one_object, verdicts);
        let ((left_key, left), (right_key, right)) = ((left.0, &left.1.classes[..]), (right.0, &others[..]));
        match verdict {
            Verdict::NoConflict => return,
            Verdict::Refuted(_) => {}
            Verdict::Candidate => {
                judgement.ends.note(left, right_key);
                judgement.ends.note(right, left_key);
            }
        }
        let (ones, others) = (left.len() as u64, right.len() as u64);
        let mut pairs = if is_one { ones * (ones + 1) / 2 } else { ones * others };
        let listed = left.iter().enumerate().flat_map(|(position, one)| {
            let others = if is_one { &right[position..] } else { right };
            others.iter().map(move |other| (*one, *other))
        });
        for (left, right) in listed.take(MOST_OF_SIDES) {
            pairs -= 1;
            listing.add(judgement, Judged { object, left, right, verdict, more: 0 });
        }
        listing.count(judgement, verdict, pairs);
    }

    /// What keeps two sides apart that conflict and may touch a common byte: whatever it is for two of their classes, it is for all of them.
    fn check(
        &mut self,
        (left_key, left): (&SideKey, &Side),
        (right_key, right): (&SideKey, &Side),
        is_one_object: bool,
        verdicts: &mut VerdictsOfOne,
    ) -> Verdict {
        *verdicts.entry((right_key.points, right_key.cover, is_one_object)).or_insert_with(|| {
            let (left, right) = (*self.class(left.classes[0]), *self.class(right.classes[0]));
            debug_assert_eq!((left.points, left.cover), (left_key.points, left_key.cover), "a side's classes are alike");
            self.find_verdict(&left, &right, is_one_object)
        })
    }

    fn find_verdict(&mut self, left: &ClassKey, right: &ClassKey, is_one_object: bool) -> Verdict {
        // One thread's two accesses are in order; those of two threads are to two instances.
        if is_one_object && self.covers.are_own_instances(left.cover, right.cover) {
            return Verdict::NoConflict;
        }
        match self.orders.overlap(left.points, right.points) {
            Overlap::Some(..) => {}
            Overlap::None(Some(OrderReason::SameThread) | None) => return Verdict::Refuted(Why::OneThread),
            Overlap::None(Some(reason)) => return Verdict::Refuted(Why::Threads(reason)),
        }
        if let Some(common) = self.covers.common(left.cover, right.cover) {
            return Verdict::Refuted(match common {
                Common::Lock(place) => Why::Lock(place),
                Common::Relative(family) => Why::Relative(family),
                Common::Section => Why::Section,
                Common::Once(place) => Why::Once(place),
                Common::Permit(place) => Why::Permit(place),
            });
        }
        if !looks_at_threads(self.covers, self.orders, left) && !looks_at_threads(self.covers, self.orders, right) {
            return Verdict::Candidate;
        }
        let mut why = None;
        for (one, other) in self.orders.overlaps(left.points, right.points) {
            match excuse(self.facts, self.covers, self.orders, (one, left), (other, right)) {
                Some(reason) => why = why.or(Some(reason)),
                None => return Verdict::Candidate,
            }
        }
        Verdict::Refuted(why.expect("some threads overlap"))
    }
}

/// Whether what keeps others away from a class depends on who they are.
fn looks_at_threads(covers: &Covers<'_, '_>, orders: &Orders<'_, '_>, class: &ClassKey) -> bool {
    covers.tells_threads_apart(class.cover) || orders.has_creation_locks(class.points)
}

/// Two points of two classes that nothing keeps apart.
pub fn open_points(
    facts: &Facts<'_>,
    covers: &Covers<'_, '_>,
    orders: &mut Orders<'_, '_>,
    (left, points): (&ClassKey, PointSetId),
    (right, other_points): (&ClassKey, PointSetId),
) -> Option<(Point, Point)> {
    if let (false, Overlap::Some(one, other)) =
        (looks_at_threads(covers, orders, left) || looks_at_threads(covers, orders, right), orders.overlap(points, other_points))
    {
        return Some((one, other));
    }
    let overlaps = orders.overlaps(points, other_points);
    overlaps.into_iter().find(|(one, other)| excuse(facts, covers, orders, (*one, left), (*other, right)).is_none())
}
