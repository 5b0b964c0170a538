//! The history of a thread's whole path, from its start to where it stands, as others see it.

use super::{Atom, BitSet, Doubt, Doubts, LockHistory};

/// How histories are to be read: what was held at the start, and which locks refute.
#[derive(Clone, Copy, Debug)]
pub struct Reading<'a> {
    /// Atoms held when the thread began.
    pub start: &'a [Atom],
    /// Atoms of locks that stand for one run-time lock each, which only their holder releases; and moments.
    pub refuting: &'a BitSet,
    /// What else may be held there: histories do not know.
    pub may_hold: &'a BitSet,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Whole {
    /// A with AH, refuting locks only, in the order of the acquisitions.
    pub held: Vec<(Atom, BitSet)>,
    /// HT
    pub throughout: BitSet,
    /// R with RH
    pub released: Vec<(Atom, BitSet)>,
    /// U ∪ A
    pub acquired: BitSet,
    /// All that may be held, what does not refute included.
    pub may_hold: BitSet,
    pub doubts: Doubts,
}

impl Whole {
    pub fn of(history: &LockHistory, reading: Reading<'_>) -> Whole {
        let refutes = |atom: &Atom| reading.refuting.contains(atom.index());
        let sure = |set: &BitSet| set.intersection(reading.refuting);
        let held =
            history.acquired.iter().filter(|last| refutes(&last.atom)).map(|last| (last.atom, sure(&last.since))).collect();
        let released =
            history.released.iter().filter(|first| refutes(&first.atom)).map(|first| (first.atom, sure(&first.before))).collect();
        let is_released = |atom: &Atom| history.released.iter().any(|first| first.atom == *atom);
        let kept = || reading.start.iter().filter(|atom| !is_released(atom));
        let is_lost = |atom: &Atom| history.lost.contains(atom.index());
        let throughout = kept().filter(|atom| refutes(atom) && !is_lost(atom)).map(|atom| atom.index()).collect();
        let mut may_hold = history.lost.union(reading.may_hold);
        kept().chain(history.acquired.iter().map(|last| &last.atom)).for_each(|atom| may_hold.insert(atom.index()));
        Whole { held, throughout, released, acquired: sure(&history.all_acquired()), may_hold, doubts: history.doubts }
    }

    /// Nothing is known but what may be held.
    pub fn unknown(may_hold: BitSet) -> Whole {
        Whole { may_hold, doubts: Doubts::of(Doubt::TooMany), ..Whole::default() }
    }

    /// Compatible with at least what the other is compatible with, holding the same.
    pub fn precedes(&self, other: &Whole) -> bool {
        let within = |one: &[(Atom, BitSet)], two: &[(Atom, BitSet)]| {
            one.len() == two.len() && one.iter().zip(two).all(|(one, two)| one.0 == two.0 && one.1.is_subset(&two.1))
        };
        self.may_hold == other.may_hold
            && self.throughout == other.throughout
            && self.doubts.is_subset(other.doubts)
            && self.acquired.is_subset(&other.acquired)
            && within(&self.held, &other.held)
            && within(&self.released, &other.released)
    }

    /// Those that no other one precedes.
    pub fn minimal(mut wholes: Vec<Whole>) -> Vec<Whole> {
        wholes.sort_unstable();
        wholes.dedup();
        let keeps: Vec<bool> = wholes.iter().map(|one| !wholes.iter().any(|other| other != one && other.precedes(one))).collect();
        let mut keep = keeps.into_iter();
        wholes.retain(|_| keep.next().expect("one for each"));
        wholes
    }

    /// What is surely held at the end.
    pub fn final_atoms(&self) -> impl Iterator<Item = Atom> + '_ {
        self.held.iter().map(|(atom, _)| *atom).chain(self.throughout.iter().map(Atom::from_index))
    }
}
