//! Sets of words of bounded length: a semiring whose ⊗ does not commute. The weight of a configuration is the set of rule sequences that lead to it.

use std::collections::BTreeSet;

use lockcheck::pushdown::Semiring;

/// At most 16 letters below 16, four bits each; the first letter in the highest used bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Word {
    length: u8,
    letters: u64,
}

impl Word {
    pub const EMPTY: Word = Word { length: 0, letters: 0 };

    pub fn of(letter: Option<u8>) -> Word {
        letter.map_or(Word::EMPTY, |letter| Word { length: 1, letters: u64::from(letter) })
    }

    pub fn length(self) -> usize {
        usize::from(self.length)
    }

    pub fn then(self, other: Word) -> Word {
        Word { length: self.length + other.length, letters: self.letters << (4 * other.length) | other.letters }
    }
}

/// Words of more than `longest` letters are dropped: they are an ideal, so what remains is a semiring again.
pub struct Words {
    pub longest: usize,
}

impl Semiring for Words {
    type Weight = BTreeSet<Word>;

    fn zero(&self) -> Self::Weight {
        BTreeSet::new()
    }

    fn one(&self) -> Self::Weight {
        BTreeSet::from([Word::EMPTY])
    }

    fn combine(&mut self, left: &Self::Weight, right: &Self::Weight) -> Self::Weight {
        left | right
    }

    fn extend(&mut self, first: &Self::Weight, then: &Self::Weight) -> Self::Weight {
        let pairs = first.iter().flat_map(|first| then.iter().map(|then| (*first, *then)));
        pairs
            .filter(|(first, then)| first.length() + then.length() <= self.longest)
            .map(|(first, then)| first.then(then))
            .collect()
    }
}
