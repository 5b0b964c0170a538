//! Listed: of the pairs of accesses that nothing keeps apart, those that a reader is shown.
//!
//! Of each object, a pair of lines for each line that has any, then others, as far as there is room. Where both lines reach the object through pointers to very many places, the same story
//! would be told of each of very many objects: so it is done for all of them together.

use fixedbitset::FixedBitSet;
use rustc_hash::FxHashSet;

/// More lines of one object, and pairs of lines that are listed already, are counted and not listed.
const MOST_LINES: usize = 200;
const MOST_PAIRS: usize = 100;

/// So many of those that are not listed are looked at one by one; of more it is not asked which are on lines that are listed.
const ONE_BY_ONE: u64 = 10_000;

/// Two lines, by their numbers, ascending.
type Lines = (u32, u32);

#[derive(Default)]
pub struct Listed {
    /// Of the object that is looked at.
    lines: FixedBitSet,
    pairs: FxHashSet<Lines>,
    /// Only pairs with a line that is in no other.
    wants_new_lines: bool,
    room: usize,
    /// Lines that are told elsewhere.
    passed_over: usize,
    /// How many were not listed in this pass.
    counted: u64,
    /// Pairs of accesses to the object that are not listed.
    pub left_out: u64,
    /// Pairs through pointers to very many places that were told, of whichever objects, and their lines.
    told: usize,
    told_lines: FixedBitSet,
    /// Pairs of accesses that are left out because their lines are told of some object.
    pub elsewhere: u64,
}

impl Listed {
    pub fn begin_object(&mut self) {
        self.lines.clear();
        self.pairs.clear();
        self.passed_over = 0;
    }

    pub fn begin_pass(&mut self, wants_new_lines: bool) {
        self.wants_new_lines = wants_new_lines;
        let others = MOST_PAIRS.saturating_sub(self.pairs.len() + self.passed_over);
        self.room = if wants_new_lines { MOST_LINES } else { others };
        (self.left_out, self.counted) = (0, 0);
    }

    /// Whether nothing is listed any more in this pass, nor looked at one by one.
    pub fn is_over(&self) -> bool {
        self.room == 0 && (self.wants_new_lines || self.counted > ONE_BY_ONE)
    }

    /// Pairs of accesses that are not listed: on lines that are told elsewhere, and others.
    pub fn leave_out(&mut self, told: u64, others: u64) {
        self.pass_over(0, told);
        self.left_out += others;
        self.counted += others;
    }

    /// Whether pairs with this line are looked at now, whatever the other line.
    pub fn is_wanted(&self, line: u32) -> bool {
        !self.wants_new_lines || self.is_new(line)
    }

    /// Whether the object has no pair with this line yet.
    fn is_new(&self, line: u32) -> bool {
        !self.lines.contains(line as usize)
    }

    /// Whether a line with pointers to very many places needs to be told no more.
    pub fn is_told(&self, line: u32) -> bool {
        self.told >= MOST_PAIRS && self.told_lines.contains(line as usize)
    }

    /// So many pairs are on so many lines that are told. No others get their room in the second pass; every line that is not told has its own.
    pub fn pass_over(&mut self, lines: usize, count: u64) {
        if self.wants_new_lines {
            self.passed_over += lines;
        } else {
            self.elsewhere += count;
            self.counted += count;
        }
    }

    /// Whether the pair of lines, with so many pairs of accesses, is to be listed now. `is_of_many`: both through pointers to very many places.
    pub fn add(&mut self, pair: Lines, count: u64, is_of_many: bool) -> bool {
        let has_new_line = self.is_new(pair.0) || self.is_new(pair.1);
        if self.wants_new_lines && !has_new_line || self.pairs.contains(&pair) {
            return false;
        }
        if is_of_many && self.is_told(pair.0) && self.is_told(pair.1) {
            self.pass_over(1, count);
            add_both(&mut self.lines, pair);
            return false;
        }
        if self.room == 0 {
            self.leave_out(0, count);
            return false;
        }
        self.pairs.insert(pair);
        add_both(&mut self.lines, pair);
        self.room -= 1;
        if is_of_many {
            self.told += 1;
            add_both(&mut self.told_lines, pair);
        }
        true
    }
}

fn add_both(lines: &mut FixedBitSet, (one, other): Lines) {
    lines.grow_and_insert(one as usize);
    lines.grow_and_insert(other as usize);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two hundred objects, with the same lines: each of three with each other, and one of them with a line that is in no other object.
    fn listed(is_of_many: bool) -> (usize, u64) {
        let mut listed = Listed::default();
        let mut shown = 0;
        for object in 0..200 {
            listed.begin_object();
            for wants_new_lines in [true, false] {
                listed.begin_pass(wants_new_lines);
                for pair in [(1, 2), (2, 3), (1, 3), (1, 10 + object)] {
                    shown += usize::from(listed.add(pair, 3, is_of_many));
                }
            }
        }
        (shown, listed.elsewhere)
    }

    #[test]
    fn what_is_of_many_objects_is_told_of_some() {
        assert_eq!(listed(false), (800, 0));
        let (shown, elsewhere) = listed(true);
        assert!((200..400).contains(&shown), "{shown}");
        assert_eq!(elsewhere, 3 * (800 - shown as u64));
    }
}
