//! What is remembered of the accesses to one object: for every byte the last write and the reads since, plain and atomic apart.
//!
//! Bytes that were always accessed together share a cell. Cells live in pages of [`PAGE`] bytes, so that a large array costs one
//! short search an access and a copy shares the pages that did not change.

use smallvec::SmallVec;
use triomphe::Arc;

use super::clock::{Epoch, VectorClock};
use super::interner::{LocksetId, StackId};
use super::race::Role;
use crate::program::SiteId;

/// Bytes a page.
const PAGE: u64 = 256;

/// One access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    pub epoch: Epoch,
    pub site: Option<SiteId>,
    pub stack: StackId,
    pub locks: LocksetId,
    pub role: Role,
}

/// Accesses of which none happens before another: epochs, escalated to a vector.
type Records = SmallVec<[Record; 1]>;

/// An earlier access that races, and the bytes it touched, from and to.
pub type Conflict = (Record, u64, u64);

#[derive(Clone, Debug, Default)]
struct Cell {
    /// Inside the page: from and to.
    from: u16,
    to: u16,
    write: Option<Record>,
    reads: Records,
    atomic: Option<Box<AtomicRecords>>,
}

#[derive(Clone, Debug, Default)]
struct AtomicRecords {
    reads: Records,
    writes: Records,
}

/// Sorted by position, disjoint.
type Page = Vec<Cell>;

#[derive(Clone, Debug, Default)]
pub struct Shadow {
    pages: Vec<Option<Arc<Page>>>,
}

impl Shadow {
    /// Whether the access changes nothing and races with nothing new: the same site made it last, at the same epoch.
    ///
    /// Another site is no repetition even at the same epoch: what races with both is two findings, and where nothing can come
    /// between the two, as in an atomic section, the second would never be seen.
    pub fn is_repetition(&self, from: u64, to: u64, epoch: Epoch, site: Option<SiteId>, role: Role) -> bool {
        let base = from / PAGE * PAGE;
        if to - base > PAGE {
            return false;
        }
        let Some(Some(page)) = self.pages.get((from / PAGE) as usize) else { return false };
        let (from, to) = ((from - base) as u16, (to - base) as u16);
        let index = page.partition_point(|cell| cell.to <= from);
        page.get(index).is_some_and(|cell| cell.from == from && cell.to == to && cell.is_repetition(epoch, site, role))
    }

    /// Records an access and says which earlier ones it races with.
    pub fn access(&mut self, from: u64, to: u64, record: Record, now: &VectorClock) -> Vec<Conflict> {
        let mut conflicts = Vec::new();
        let mut start = from;
        while start < to {
            let base = start / PAGE * PAGE;
            let end = to.min(base + PAGE);
            let index = (base / PAGE) as usize;
            if self.pages.len() <= index {
                self.pages.resize(index + 1, None);
            }
            let page = Arc::make_mut(self.pages[index].get_or_insert_with(Arc::default));
            access_page(page, base, ((start - base) as u16, (end - base) as u16), record, now, &mut conflicts);
            start = end;
        }
        merge_neighbours(conflicts)
    }

    /// The earlier accesses to any byte that race with the end of the object.
    pub fn end(&self, now: &VectorClock) -> Vec<Conflict> {
        let mut conflicts = Vec::new();
        for (index, page) in self.pages.iter().enumerate() {
            for cell in page.iter().flat_map(|page| page.iter()) {
                cell.collect_conflicts(index as u64 * PAGE, Role::End, now, &mut conflicts);
            }
        }
        merge_neighbours(conflicts)
    }
}

/// Makes cells for exactly the range, then applies the access to each.
fn access_page(page: &mut Page, base: u64, range: (u16, u16), record: Record, now: &VectorClock, conflicts: &mut Vec<Conflict>) {
    let (from, to) = range;
    let mut index = page.partition_point(|cell| cell.to <= from);
    let mut position = from;
    while position < to {
        let next = page.get(index).map_or(to, |cell| cell.from);
        if position < next {
            // A gap: never accessed before.
            page.insert(index, Cell { from: position, to: next.min(to), ..Cell::default() });
        }
        if page[index].from < position {
            let mut left = page[index].clone();
            left.to = position;
            page[index].from = position;
            page.insert(index, left);
            index += 1;
        }
        if page[index].to > to {
            let mut right = page[index].clone();
            right.from = to;
            page[index].to = to;
            page.insert(index + 1, right);
        }
        let cell = &mut page[index];
        cell.collect_conflicts(base, record.role, now, conflicts);
        cell.update(record, now);
        position = cell.to;
        index += 1;
    }
}

impl Cell {
    fn is_repetition(&self, epoch: Epoch, site: Option<SiteId>, role: Role) -> bool {
        let is_same = |record: &Record| record.epoch == epoch && record.site == site;
        let is_mine = |records: &Records| records.len() == 1 && is_same(&records[0]);
        match role {
            Role::Read => is_mine(&self.reads),
            Role::Write => self.write.as_ref().is_some_and(is_same) && self.reads.is_empty() && self.atomic.is_none(),
            Role::AtomicRead => self.atomic.as_ref().is_some_and(|atomic| is_mine(&atomic.reads)),
            Role::AtomicWrite => self.atomic.as_ref().is_some_and(|atomic| is_mine(&atomic.writes)),
            Role::End => false,
        }
    }

    fn collect_conflicts(&self, base: u64, role: Role, now: &VectorClock, conflicts: &mut Vec<Conflict>) {
        let (from, to) = (base + u64::from(self.from), base + u64::from(self.to));
        let mut check = |record: &Record| {
            if !now.has_seen(record.epoch) {
                conflicts.push((*record, from, to));
            }
        };
        self.write.iter().for_each(&mut check);
        // A write conflicts with reads; a plain access conflicts with atomic ones.
        if matches!(role, Role::Write | Role::AtomicWrite | Role::End) {
            self.reads.iter().for_each(&mut check);
        }
        if let (Some(atomic), Role::Read | Role::Write | Role::End) = (&self.atomic, role) {
            atomic.writes.iter().for_each(&mut check);
            if role != Role::Read {
                atomic.reads.iter().for_each(&mut check);
            }
        }
    }

    fn update(&mut self, record: Record, now: &VectorClock) {
        match record.role {
            Role::Read => replace_seen(&mut self.reads, record, now),
            // Whatever is not ordered with an earlier access is not ordered with this write either, unless it raced already.
            Role::Write | Role::End => {
                self.write = Some(record);
                self.reads.clear();
                self.atomic = None;
            }
            Role::AtomicRead => replace_seen(&mut self.atomic.get_or_insert_default().reads, record, now),
            Role::AtomicWrite => replace_seen(&mut self.atomic.get_or_insert_default().writes, record, now),
        }
    }
}

/// The new access stands for those that happen before it.
fn replace_seen(records: &mut Records, record: Record, now: &VectorClock) {
    records.retain(|earlier| !now.has_seen(earlier.epoch));
    records.push(record);
}

/// One conflict for neighbouring bytes that the same earlier access touched.
fn merge_neighbours(conflicts: Vec<Conflict>) -> Vec<Conflict> {
    let mut merged: Vec<Conflict> = Vec::new();
    for (record, from, to) in conflicts {
        match merged.iter_mut().find(|(other, _, end)| *other == record && *end == from) {
            Some(neighbour) => neighbour.2 = to,
            None => merged.push((record, from, to)),
        }
    }
    merged
}
