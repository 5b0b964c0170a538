//! One thing that is held, and the names it goes by.

use smallvec::SmallVec;

/// A location that stands for exactly one run-time object, by its number in the engine's table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place(pub u32);

/// A symbolic value of the frame a lockset belongs to, by its number in the table of terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Term(pub u32);

/// Where a lock may lie: an interned set of locations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Family(pub u32);

/// Where in the order of threads something was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Moment(pub u32);

impl Moment {
    /// In the phase that the function was called in, and is still in.
    pub const HERE: Moment = Moment(u32::MAX);
}

/// What sort of thing is held. All of them ride the same machinery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Token {
    Lock,
    /// Inside `__VERIFIER_atomic_begin` … `_end`: one lock for the whole program.
    AtomicSection,
    /// Inside the routine of a one-time initialisation: it runs at most once.
    InsideOnce,
    /// That routine has ended before.
    OnceDone,
    /// The argument that the thread was created with is this term.
    OwnArgument,
    /// A permit of a semaphore that begins with one.
    Permit,
    /// This thread has not posted to the semaphore, which begins without permits.
    Unsent,
    /// This thread has waited for such a semaphore at least once.
    Handed,
    /// This thread took the lock at least once since it began, and may have released it.
    Acquired,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mode {
    Shared,
    Exclusive,
}

/// All names that are known to mean one thing.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Names {
    pub place: Option<Place>,
    /// Ascending, each once.
    pub terms: SmallVec<[Term; 2]>,
}

impl Names {
    pub fn of_place(place: Place) -> Names {
        Names { place: Some(place), terms: SmallVec::new() }
    }

    pub fn of_term(term: Term) -> Names {
        Names { place: None, terms: SmallVec::from_slice(&[term]) }
    }

    pub fn is_empty(&self) -> bool {
        self.place.is_none() && self.terms.is_empty()
    }

    pub fn add_term(&mut self, term: Term) {
        if let Err(at) = self.terms.binary_search(&term) {
            self.terms.insert(at, term);
        }
    }

    /// The names that both have.
    pub fn common(&self, other: &Names) -> Names {
        Names {
            place: self.place.filter(|place| other.place == Some(*place)),
            terms: self.terms.iter().copied().filter(|term| other.terms.contains(term)).collect(),
        }
    }

    /// Whether both certainly mean the same thing.
    pub fn agree(&self, other: &Names) -> bool {
        self.place.is_some() && self.place == other.place || self.terms.iter().any(|term| other.terms.contains(term))
    }

    /// Whether both certainly mean different things.
    pub fn differ(&self, other: &Names) -> bool {
        matches!((self.place, other.place), (Some(left), Some(right)) if left != right)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Held {
    pub token: Token,
    pub names: Names,
    pub family: Family,
    pub mode: Mode,
    /// A lower bound of how often it was taken and not released; at least 1.
    pub count: u8,
    /// `None` when ways with different moments were merged.
    pub since: Option<Moment>,
}

impl Held {
    /// Whether it is a lock that others may have as well.
    pub fn is_shared(&self) -> bool {
        self.token == Token::Lock && self.mode == Mode::Shared
    }

    /// What is certain when the one or the other is: `None` when they are not known to be the same thing.
    pub fn meet(&self, other: &Held) -> Option<Held> {
        if self.token != other.token {
            return None;
        }
        let names = self.names.common(&other.names);
        if names.is_empty() {
            return None;
        }
        Some(Held {
            token: self.token,
            names,
            // Either is a set the lock is in.
            family: self.family.min(other.family),
            mode: self.mode.min(other.mode),
            count: self.count.min(other.count),
            since: self.since.filter(|since| other.since == Some(*since)),
        })
    }
}
