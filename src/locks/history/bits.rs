//! Dense sets of small numbers; equal sets are equal values.

use smallvec::SmallVec;

#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BitSet {
    /// invariant: the last word is not 0.
    words: SmallVec<[u64; 2]>,
}

impl BitSet {
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    pub fn contains(&self, number: usize) -> bool {
        self.words.get(number / 64).is_some_and(|word| word >> (number % 64) & 1 == 1)
    }

    pub fn insert(&mut self, number: usize) {
        if self.words.len() <= number / 64 {
            self.words.resize(number / 64 + 1, 0);
        }
        self.words[number / 64] |= 1 << (number % 64);
    }

    pub fn remove(&mut self, number: usize) {
        if let Some(word) = self.words.get_mut(number / 64) {
            *word &= !(1 << (number % 64));
            self.trim();
        }
    }

    pub fn union_with(&mut self, other: &BitSet) {
        if self.words.len() < other.words.len() {
            self.words.resize(other.words.len(), 0);
        }
        self.words.iter_mut().zip(&other.words).for_each(|(word, more)| *word |= more);
    }

    pub fn union(&self, other: &BitSet) -> BitSet {
        let mut union = self.clone();
        union.union_with(other);
        union
    }

    pub fn intersection(&self, other: &BitSet) -> BitSet {
        let mut common = BitSet { words: self.words.iter().zip(&other.words).map(|(one, two)| one & two).collect() };
        common.trim();
        common
    }

    pub fn is_subset(&self, other: &BitSet) -> bool {
        self.words.len() <= other.words.len() && self.words.iter().zip(&other.words).all(|(word, more)| word & !more == 0)
    }

    pub fn is_disjoint(&self, other: &BitSet) -> bool {
        self.words.iter().zip(&other.words).all(|(one, two)| one & two == 0)
    }

    pub fn len(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Ascending.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.words.iter().enumerate().flat_map(|(at, word)| {
            let mut rest = *word;
            std::iter::from_fn(move || {
                let bit = (rest != 0).then(|| rest.trailing_zeros() as usize)?;
                rest &= rest - 1;
                Some(at * 64 + bit)
            })
        })
    }

    fn trim(&mut self) {
        while self.words.last() == Some(&0) {
            self.words.pop();
        }
    }
}

impl FromIterator<usize> for BitSet {
    fn from_iter<I: IntoIterator<Item = usize>>(numbers: I) -> BitSet {
        let mut set = BitSet::default();
        numbers.into_iter().for_each(|number| set.insert(number));
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_of_the_same_numbers_are_equal() {
        let mut set = BitSet::from_iter([3, 64, 200]);
        assert_eq!(set.iter().collect::<Vec<_>>(), [3, 64, 200]);
        set.remove(200);
        assert_eq!(set, BitSet::from_iter([64, 3]));
        assert!(set.is_subset(&BitSet::from_iter([3, 64, 70])) && !set.is_subset(&BitSet::from_iter([3])));
        assert!(set.is_disjoint(&BitSet::from_iter([65])) && !set.is_disjoint(&BitSet::from_iter([64])));
        assert_eq!(set.intersection(&BitSet::from_iter([3, 200])), BitSet::from_iter([3]));
        assert_eq!(set.len(), 2);
    }
}
