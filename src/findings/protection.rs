//! What protects an object: the table of locks by which a forgotten one is found.

use crate::program::Place;

/// An object that threads share, and the locks held at its accesses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Protection {
    pub object: String,
    /// How many places access it while other threads may.
    pub accesses: u64,
    /// Locks, and at how many of the accesses each is held; the one that protects most first.
    pub locks: Vec<(String, u64)>,
    /// Accesses that may race and do not hold the first lock, sorted.
    pub without: Vec<Place>,
}

impl Protection {
    /// The lock that is held at most accesses, but not at all of them: the one that was forgotten somewhere.
    pub fn forgotten(&self) -> Option<(&str, u64)> {
        let (lock, count) = self.locks.first()?;
        (count * 2 > self.accesses && *count < self.accesses).then_some((lock.as_str(), *count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(accesses: u64, locks: &[(&str, u64)]) -> Protection {
        let locks = locks.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect();
        Protection { object: "total".to_owned(), accesses, locks, without: Vec::new() }
    }

    #[test]
    fn a_lock_is_forgotten_where_most_accesses_hold_it() {
        assert_eq!(table(12, &[("m", 11), ("k", 2)]).forgotten(), Some(("m", 11)));
        assert_eq!(table(12, &[("m", 12)]).forgotten(), None);
        assert_eq!(table(12, &[("m", 6)]).forgotten(), None);
        assert_eq!(table(3, &[]).forgotten(), None);
    }
}
