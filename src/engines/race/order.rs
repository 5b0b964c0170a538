//! When something may happen at the same time: points, sets of them, and their order, each asked for once.
//!
//! # Definition   A *point* is a thread in a phase. Two sets of points are *alike* when they overlap with the same points of the program, thread by thread
//!                for those threads of which it matters which one it is.
//! # Theorem      Which threads of two sets overlap, of those that matter, and whether others do, stays the same when either set is replaced by one
//!                that is alike.

use std::collections::{BTreeMap, BTreeSet};

use fixedbitset::FixedBitSet;
use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap};

use super::creation::CreationLocks;
use super::signals::is_handler;
use crate::facts::{Facts, OrderReason, PhaseId, Relation, ThreadId, ThreadKind};

/// A thread in a phase.
pub type Point = (ThreadId, PhaseId);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PointSetId(u32);

/// Whether two sets of points have something that may happen at the same time.
#[derive(Clone, Copy, Debug)]
pub enum Overlap {
    /// The first two points that may.
    Some(Point, Point),
    /// Why the first two may not; nothing when a set is empty.
    None(Option<OrderReason>),
}

pub struct Orders<'a, 'p> {
    facts: &'a Facts<'p>,
    points: IndexSet<Point, FxBuildHasher>,
    sets: IndexSet<Vec<Point>, FxBuildHasher>,
    unions: FxHashMap<(PointSetId, PointSetId), PointSetId>,
    relations: FxHashMap<(Point, Point), Relation>,
    overlaps: FxHashMap<(PointSetId, PointSetId), Overlap>,
    /// By set: the first one that was alike.
    alike: FxHashMap<PointSetId, PointSetId>,
    firsts: FxHashMap<Likeness, PointSetId>,
    creation_locks: CreationLocks,
    /// Whether it matters of every thread whose descendant it is.
    looks_at_descent: bool,
}

/// What a set of points overlaps with.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
struct Likeness {
    is_of_first_thread: bool,
    /// By thread, where it matters which one it is; together for the others.
    rows: BTreeMap<Option<ThreadId>, FixedBitSet>,
}

impl<'a, 'p> Orders<'a, 'p> {
    pub fn new(facts: &'a Facts<'p>, looks_at_descent: bool) -> Orders<'a, 'p> {
        Orders {
            facts,
            points: IndexSet::default(),
            sets: IndexSet::default(),
            unions: FxHashMap::default(),
            relations: FxHashMap::default(),
            overlaps: FxHashMap::default(),
            alike: FxHashMap::default(),
            firsts: FxHashMap::default(),
            creation_locks: CreationLocks::default(),
            looks_at_descent,
        }
    }

    /// The locks that creators hold for their threads.
    pub fn set_creation_locks(&mut self, locks: CreationLocks) {
        self.creation_locks = locks;
        self.alike.clear();
        self.firsts.clear();
    }

    pub fn creation_locks(&self) -> &CreationLocks {
        &self.creation_locks
    }

    /// Whether locks are held for some thread that is there, or were taken by its creators.
    pub fn has_creation_locks(&self, set: PointSetId) -> bool {
        self.points(set).iter().any(|point| self.creation_locks.concern(point.0))
    }

    /// The number of a set; its points ascend. A new point forgets what was alike without it.
    pub fn intern(&mut self, points: Vec<Point>) -> PointSetId {
        for point in &points {
            if self.points.insert(*point) {
                self.alike.clear();
                self.firsts.clear();
            }
        }
        PointSetId(self.sets.insert_full(points).0 as u32)
    }

    /// Ascending.
    pub fn points(&self, set: PointSetId) -> &[Point] {
        &self.sets[set.0 as usize]
    }

    /// Some of the points.
    pub fn only(&mut self, set: PointSetId, keeps: &dyn Fn(&Point) -> bool) -> PointSetId {
        if self.points(set).iter().all(keeps) {
            return set;
        }
        let points = self.points(set).iter().filter(|point| keeps(point)).copied().collect();
        self.intern(points)
    }

    /// All points of both.
    pub fn union(&mut self, left: PointSetId, right: PointSetId) -> PointSetId {
        if left == right {
            return left;
        }
        let key = (left.min(right), left.max(right));
        if let Some(known) = self.unions.get(&key) {
            return *known;
        }
        let points: BTreeSet<Point> = self.points(left).iter().chain(self.points(right)).copied().collect();
        let union = self.intern(points.into_iter().collect());
        self.unions.insert(key, union);
        union
    }

    /// Whether the program's first thread alone is there.
    pub fn is_of_first_thread(&self, set: PointSetId) -> bool {
        self.points(set).iter().all(|point| self.facts.threads.thread(point.0).kind == ThreadKind::Main)
    }

    /// The first set that is alike.
    pub fn alike(&mut self, set: PointSetId) -> PointSetId {
        if let Some(known) = self.alike.get(&set) {
            return *known;
        }
        let own: Vec<Point> = self.points(set).to_vec();
        let mut likeness = Likeness { is_of_first_thread: self.is_of_first_thread(set), ..Likeness::default() };
        for one in own {
            let is_special = self.looks_at_descent
                || self.facts.threads.argument_distance(one.0).is_some()
                || self.facts.threads.has_peers(one.0)
                || is_handler(self.facts, one.0)
                || self.creation_locks.concern(one.0);
            let mut row = likeness.rows.remove(&is_special.then_some(one.0)).unwrap_or_default();
            row.grow(self.points.len());
            for number in 0..self.points.len() {
                if self.relation(one, self.points[number]).may_overlap() {
                    row.insert(number);
                }
            }
            likeness.rows.insert(is_special.then_some(one.0), row);
        }
        let first = *self.firsts.entry(likeness).or_insert(set);
        self.alike.insert(set, first);
        first
    }

    fn relation(&mut self, left: Point, right: Point) -> Relation {
        let facts = self.facts;
        *self.relations.entry((left, right)).or_insert_with(|| match facts.threads.relation(left, right) {
            Relation::MayOverlap => facts.threads.barrier_between(left, right).map_or(Relation::MayOverlap, Relation::Ordered),
            ordered => ordered,
        })
    }

    pub fn overlap(&mut self, left: PointSetId, right: PointSetId) -> Overlap {
        if let Some(known) = self.overlaps.get(&(left, right)) {
            return *known;
        }
        let found = self.first_overlap(left, right);
        self.overlaps.insert((left, right), found);
        found
    }

    fn first_overlap(&mut self, left: PointSetId, right: PointSetId) -> Overlap {
        let mut first = None;
        let others = self.points(right).to_vec();
        for one in self.points(left).to_vec() {
            for other in others.iter().copied() {
                match self.relation(one, other) {
                    Relation::MayOverlap => return Overlap::Some(one, other),
                    // That one thread does both says least.
                    Relation::Ordered(reason) if first.is_none_or(|known| known == OrderReason::SameThread) => {
                        first = Some(reason);
                    }
                    Relation::Ordered(_) => {}
                }
            }
        }
        Overlap::None(first)
    }

    /// All points that may overlap.
    pub fn overlaps(&mut self, left: PointSetId, right: PointSetId) -> Vec<(Point, Point)> {
        let mut found = Vec::new();
        let others = self.points(right).to_vec();
        for one in self.points(left).to_vec() {
            for other in others.iter().copied() {
                if self.relation(one, other).may_overlap() {
                    found.push((one, other));
                }
            }
        }
        found
    }
}

/// Whether `thread` is a descendant of `ancestor`, by creations that are told apart.
pub fn descends(facts: &Facts<'_>, thread: ThreadId, ancestor: ThreadId) -> bool {
    let mut current = thread;
    loop {
        let known = facts.threads.thread(current);
        if known.is_cut {
            return false;
        }
        match known.parent {
            Some(parent) if parent == ancestor => return true,
            Some(parent) => current = parent,
            None => return false,
        }
    }
}
