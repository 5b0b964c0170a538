//! When something may happen at the same time: points, sets of them, and their order, each asked for once.
//!
//! # Definition   A *point* is a thread in a phase. Two sets of points are *alike* when they overlap with the same points of the program.
//! # Theorem      Whether two sets overlap stays the same when either is replaced by one that is alike.

use std::collections::BTreeSet;

use fixedbitset::FixedBitSet;
use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap};

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
    firsts: FxHashMap<(FixedBitSet, bool), PointSetId>,
}

impl<'a, 'p> Orders<'a, 'p> {
    pub fn new(facts: &'a Facts<'p>) -> Orders<'a, 'p> {
        Orders {
            facts,
            points: IndexSet::default(),
            sets: IndexSet::default(),
            unions: FxHashMap::default(),
            relations: FxHashMap::default(),
            overlaps: FxHashMap::default(),
            alike: FxHashMap::default(),
            firsts: FxHashMap::default(),
        }
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

    /// The first set that overlaps with the same points.
    pub fn alike(&mut self, set: PointSetId) -> PointSetId {
        if let Some(known) = self.alike.get(&set) {
            return *known;
        }
        let own: Vec<Point> = self.points(set).to_vec();
        let mut row = FixedBitSet::with_capacity(self.points.len());
        for number in 0..self.points.len() {
            let point = self.points[number];
            row.set(number, own.iter().any(|one| self.relation(*one, point).may_overlap()));
        }
        let is_of_first_thread = self.is_of_first_thread(set);
        let first = *self.firsts.entry((row, is_of_first_thread)).or_insert(set);
        self.alike.insert(set, first);
        first
    }

    fn relation(&mut self, left: Point, right: Point) -> Relation {
        let facts = self.facts;
        *self.relations.entry((left, right)).or_insert_with(|| facts.threads.relation(left, right))
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
        for one in self.points(left).to_vec() {
            for other in self.points(right).to_vec() {
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
        for one in self.points(left).to_vec() {
            for other in self.points(right).to_vec() {
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
