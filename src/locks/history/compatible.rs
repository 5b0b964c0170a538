//! Can the paths of several threads be run together to their ends, as far as locks decide?
//!
//! # Definition   Events: fᵢ(l), the last acquisition of an l that i holds at the end; rᵢ(l), the first release of an l that i held at the start;
//!                bᵢ, the creation of i. In every run of all paths: fᵢ(l) comes before each acquisition in AHᵢ(l), and an
//!                acquisition of m by i before fⱼ(m) if the two conflict; rⱼ(m) before each conflicting acquisition of m by i, and
//!                what is in RHᵢ(l) before rᵢ(l); bᵢ before everything that i acquires, and after fⱼ(l) if it stands in AHⱼ(l).
//! # Theorem      A cycle of events is a contradiction: no run exists. This needs no nesting. With nested locks and no creations the absence of
//!                cycles, and of locks that two of them hold, is enough for a run to exist.
//! # Paper        Kidd, Lammich, Touili, Reps 2009, theorem 1 and appendix B.
//! # Deviations   Creations are events (not in the paper).

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::{Atom, BitSet, LockId, Whole};

/// Participant `child` was created by `parent` at a moment that the parent's history remembers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Creation {
    pub parent: usize,
    pub moment: Atom,
    pub child: usize,
}

/// Why no run exists; participants by their position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Incompatible {
    /// Both hold the lock at the end.
    CommonLock { lock: LockId, one: usize, other: usize },
    /// One holds the lock from its start to the end, the other acquires it.
    HeldThroughout { lock: LockId, holder: usize, taker: usize },
    /// Each took its lock for good before it used the next one's, in a circle.
    AcquisitionCycle(Vec<(usize, LockId)>),
    /// Each used the next one's lock before it first released its own, in a circle.
    ReleaseCycle(Vec<(usize, LockId)>),
}

impl Incompatible {
    pub fn participants(&self) -> Vec<usize> {
        match self {
            Incompatible::CommonLock { one, other, .. } => vec![*one, *other],
            Incompatible::HeldThroughout { holder, taker, .. } => vec![*holder, *taker],
            Incompatible::AcquisitionCycle(cycle) | Incompatible::ReleaseCycle(cycle) => {
                cycle.iter().map(|(participant, _)| *participant).collect()
            }
        }
    }
}

/// All conditions, for cycles of any length.
pub fn check(participants: &[&Whole], creations: &[Creation]) -> Result<(), Incompatible> {
    check_pairs(participants)?;
    check_cycles(participants, creations)
}

/// The same where all but the last participant are known to be compatible.
pub fn check_last(participants: &[&Whole]) -> Result<(), Incompatible> {
    let Some(last) = participants.len().checked_sub(1) else { return Ok(()) };
    for one in 0..last {
        check_pair(participants, one, last)?;
    }
    check_cycles(participants, &[])
}

fn check_cycles(participants: &[&Whole], creations: &[Creation]) -> Result<(), Incompatible> {
    if let Some(cycle) = acquisition_cycle(participants, creations) {
        return Err(Incompatible::AcquisitionCycle(cycle));
    }
    match release_cycle(participants) {
        Some(cycle) => Err(Incompatible::ReleaseCycle(cycle)),
        None => Ok(()),
    }
}

/// The conditions that two participants decide between them: no common lock, nothing acquired that another holds throughout.
fn check_pairs(participants: &[&Whole]) -> Result<(), Incompatible> {
    for one in 0..participants.len() {
        for other in one + 1..participants.len() {
            check_pair(participants, one, other)?;
        }
    }
    Ok(())
}

fn check_pair(participants: &[&Whole], one: usize, other: usize) -> Result<(), Incompatible> {
    let (left, right) = (participants[one], participants[other]);
    let conflicts = |atom: &Atom| right.final_atoms().any(|held| held.excludes(*atom));
    if let Some(atom) = left.final_atoms().find(conflicts) {
        return Err(Incompatible::CommonLock { lock: atom.lock(), one, other });
    }
    for (holder, taker) in [(one, other), (other, one)] {
        let throughout = &participants[holder].throughout;
        // Asked of very many pairs, and mostly there is none.
        if throughout.is_empty() {
            continue;
        }
        let mut throughout = throughout.iter().map(Atom::from_index);
        if let Some(atom) = throughout.find(|atom| atom.conflicts_with(&participants[taker].acquired)) {
            return Err(Incompatible::HeldThroughout { lock: atom.lock(), holder, taker });
        }
    }
    Ok(())
}

/// Events that a lock is part of, by lock.
fn by_lock(events: &[(usize, Atom, &BitSet)]) -> FxHashMap<LockId, SmallVec<[usize; 2]>> {
    let mut by_lock: FxHashMap<LockId, SmallVec<[usize; 2]>> = FxHashMap::default();
    events.iter().enumerate().for_each(|(at, (_, atom, _))| by_lock.entry(atom.lock()).or_default().push(at));
    by_lock
}

/// The events of other participants than `own` whose atoms conflict with one of a set.
fn conflicting<'a>(
    events: &'a [(usize, Atom, &'a BitSet)],
    by_lock: &'a FxHashMap<LockId, SmallVec<[usize; 2]>>,
    own: usize,
    atoms: &'a BitSet,
) -> impl Iterator<Item = usize> + 'a {
    let of = move |atom: Atom| by_lock.get(&atom.lock()).into_iter().flatten().map(move |to| (*to, atom));
    let all = atoms.iter().map(Atom::from_index).flat_map(of);
    all.filter(move |(to, atom)| events[*to].0 != own && events[*to].1.excludes(*atom)).map(|(to, _)| to)
}

fn acquisition_cycle(participants: &[&Whole], creations: &[Creation]) -> Option<Vec<(usize, LockId)>> {
    // fᵢ(l), and then the creations.
    let finals: Vec<(usize, Atom, &BitSet)> = participants
        .iter()
        .enumerate()
        .flat_map(|(at, whole)| whole.held.iter().map(move |(atom, since)| (at, *atom, since)))
        .collect();
    if creations.is_empty() && finals.iter().all(|(_, _, since)| since.is_empty()) {
        return None;
    }
    let by_lock = by_lock(&finals);
    let mut after: Vec<Vec<usize>> = Vec::new();
    for (at, _, since) in &finals {
        let mut next: Vec<usize> = conflicting(&finals, &by_lock, *at, since).collect();
        let created = creations.iter().enumerate();
        next.extend(
            created
                .filter(|(_, creation)| creation.parent == *at && since.contains(creation.moment.index()))
                .map(|(to, _)| finals.len() + to),
        );
        after.push(next);
    }
    for creation in creations {
        let acquired = &participants[creation.child].acquired;
        let mut next: Vec<usize> = conflicting(&finals, &by_lock, creation.child, acquired).collect();
        next.extend((0..creations.len()).filter(|to| creations[*to].parent == creation.child).map(|to| finals.len() + to));
        after.push(next);
    }
    let cycle = cycle(&after)?;
    Some(cycle.into_iter().filter_map(|node| finals.get(node).map(|(at, atom, _)| (*at, atom.lock()))).collect())
}

fn release_cycle(participants: &[&Whole]) -> Option<Vec<(usize, LockId)>> {
    let firsts: Vec<(usize, Atom, &BitSet)> = participants
        .iter()
        .enumerate()
        .flat_map(|(at, whole)| whole.released.iter().map(move |(atom, before)| (at, *atom, before)))
        .collect();
    if firsts.iter().all(|(_, _, before)| before.is_empty()) {
        return None;
    }
    let by_lock = by_lock(&firsts);
    // rᵢ(l) needs rⱼ(m) first.
    let needs: Vec<Vec<usize>> =
        firsts.iter().map(|(at, _, before)| conflicting(&firsts, &by_lock, *at, before).collect()).collect();
    Some(cycle(&needs)?.into_iter().map(|node| (firsts[node].0, firsts[node].1.lock())).collect())
}

/// A cycle of a graph, if it has one.
fn cycle(after: &[Vec<usize>]) -> Option<Vec<usize>> {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        Open,
        Done,
    }
    let mut marks = vec![Mark::New; after.len()];
    for start in 0..after.len() {
        if marks[start] != Mark::New {
            continue;
        }
        marks[start] = Mark::Open;
        let mut way = vec![(start, 0)];
        while let Some((node, next)) = way.last_mut() {
            let Some(to) = after[*node].get(*next).copied() else {
                marks[*node] = Mark::Done;
                way.pop();
                continue;
            };
            *next += 1;
            match marks[to] {
                Mark::New => {
                    marks[to] = Mark::Open;
                    way.push((to, 0));
                }
                Mark::Open => {
                    let from = way.iter().position(|(node, _)| *node == to).expect("an open node is on the way");
                    return Some(way[from..].iter().map(|(node, _)| *node).collect());
                }
                Mark::Done => {}
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::locks::Mode;

    fn atom(lock: u32) -> Atom {
        Atom::new(LockId(lock), Mode::Exclusive)
    }

    fn set(atoms: &[Atom]) -> BitSet {
        atoms.iter().map(|atom| atom.index()).collect()
    }

    fn holding(lock: Atom, since: &[Atom]) -> Whole {
        let mut acquired = set(since);
        acquired.insert(lock.index());
        Whole { held: vec![(lock, set(since))], acquired, ..Whole::default() }
    }

    #[test]
    fn three_histories_can_cross_where_no_two_do() {
        let all: Vec<Whole> = (0..3).map(|at| holding(atom(at), &[atom((at + 1) % 3)])).collect();
        let all: Vec<&Whole> = all.iter().collect();
        for pair in [[0, 1], [1, 2], [0, 2]] {
            assert_eq!(check(&pair.map(|at| all[at]), &[]), Ok(()));
        }
        assert!(matches!(check(&all, &[]), Err(Incompatible::AcquisitionCycle(cycle)) if cycle.len() == 3));
    }

    #[test]
    fn release_histories_cross_in_the_same_way() {
        let whole = |at: u32| Whole {
            released: vec![(atom(at), set(&[atom((at + 2) % 3)]))],
            acquired: set(&[atom((at + 2) % 3)]),
            ..Whole::default()
        };
        let all: Vec<Whole> = (0..3).map(whole).collect();
        let all: Vec<&Whole> = all.iter().collect();
        assert_eq!(check(&all[..2], &[]), Ok(()));
        assert!(matches!(check(&all, &[]), Err(Incompatible::ReleaseCycle(cycle)) if cycle.len() == 3));
    }

    #[test]
    fn readers_do_not_exclude_each_other() {
        let shared = |lock| Atom::new(LockId(lock), Mode::Shared);
        assert_eq!(check(&[&holding(shared(0), &[shared(1)]), &holding(shared(1), &[shared(0)])], &[]), Ok(()));
        assert!(check(&[&holding(shared(0), &[atom(1)]), &holding(shared(1), &[atom(0)])], &[]).is_err());
        assert!(check(&[&holding(shared(0), &[]), &holding(atom(0), &[])], &[]).is_err());
    }

    #[test]
    fn what_is_held_since_before_a_creation_the_child_cannot_have_taken() {
        let moment = atom(9);
        let child = Whole { acquired: set(&[atom(0)]), ..Whole::default() };
        let creation = [Creation { parent: 0, moment, child: 1 }];
        assert!(check(&[&holding(atom(0), &[moment]), &child], &creation).is_err());
        assert_eq!(check(&[&holding(atom(0), &[]), &child], &creation), Ok(()), "taken after the creation");
    }
}
