//! How often a part of a path needs a lock to be held when it begins, and by how much it changes that.
//!
//! # Definition   (least, most, change): the part can begin when the lock is held n times, least ≤ n ≤ most, and ends with n + change.
//! # Theorem      (l₁,m₁,c₁) then (l₂,m₂,c₂) is (max(l₁, l₂−c₁), min(m₁, m₂−c₁), c₁+c₂), and impossible if that is empty. This is associative, with
//!                (0, ∞, 0) neutral. Balanced parts change nothing, so recursion that balances its locks needs no bound; what open calls hold is
//!                "more than is counted" at some depth, and held.

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Count {
    pub least: i16,
    /// [`Count::ANY`] for no limit.
    pub most: i16,
    pub change: i16,
}

impl Count {
    pub const ANY: i16 = i16::MAX;
    /// A greater change is not counted.
    pub const MOST: i16 = 4;
    /// Of a lock that the part neither looks at nor changes.
    pub const NEUTRAL: Count = Count { least: 0, most: Self::ANY, change: 0 };

    pub const fn exactly(count: i16, change: i16) -> Count {
        Count { least: count, most: count, change }
    }

    pub const fn at_least(count: i16, change: i16) -> Count {
        Count { least: count, most: Self::ANY, change }
    }

    /// One part after another; `None` when the second cannot begin where the first ends.
    pub fn then(self, next: Count) -> Option<Count> {
        let most = if next.most == Self::ANY { self.most } else { self.most.min(next.most - self.change) };
        let least = self.least.max(next.least - self.change);
        (least <= most).then_some(Count { least, most, change: self.change + next.change })
    }

    /// Whether the change can still be counted.
    pub fn is_counted(self) -> bool {
        self.change.abs() <= Self::MOST
    }

    /// Held more often than is counted: held, until something is given back.
    pub const fn is_many(self) -> bool {
        self.change > Self::MOST
    }

    /// The same with a change of "more than is counted".
    pub fn many(self) -> Count {
        Count { change: Self::MOST + 1, ..self }
    }

    /// Asks for nothing more than the other, and changes the same.
    pub fn precedes(self, other: Count) -> bool {
        self.change == other.change && self.least <= other.least && self.most >= other.most
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_follow_each_other_where_their_counts_agree() {
        let (take, again, give) = (Count::exactly(0, 1), Count::at_least(1, 1), Count::exactly(1, -1));
        assert_eq!(take.then(give), Some(Count::exactly(0, 0)));
        assert_eq!(take.then(take), None, "a mutex is not taken twice");
        assert_eq!(take.then(again), Some(Count::exactly(0, 2)));
        assert_eq!(again.then(Count::at_least(2, -1)), Some(Count::at_least(1, 0)));
        assert_eq!(give.then(take), Some(Count::exactly(1, 0)));
        assert_eq!(give.then(give), None);
    }

    #[test]
    fn composition_is_associative() {
        let some: Vec<Count> = (0..3)
            .flat_map(|least| [least, least + 1, Count::ANY].map(|most| (least, most)))
            .flat_map(|(least, most)| (-2..=2).map(move |change| Count { least, most, change }))
            .collect();
        for a in &some {
            for b in &some {
                for c in &some {
                    assert_eq!(a.then(*b).and_then(|ab| ab.then(*c)), b.then(*c).and_then(|bc| a.then(bc)));
                }
            }
        }
    }
}
