//! The accesses of a class by line: what a reader sees of them.

use super::record::Member;

/// The accesses of a class on one line: how many, and the first.
pub struct OnLine<'a> {
    pub line: u32,
    pub count: u64,
    pub first: &'a Member,
    /// All of them go through pointers to very many places.
    pub is_of_many: bool,
}

/// The accesses of a class, line by line.
pub struct OnLines<'a> {
    pub lines: Vec<OnLine<'a>>,
    accesses: u64,
}

impl<'a> OnLines<'a> {
    pub fn new(lines: Vec<OnLine<'a>>) -> OnLines<'a> {
        let accesses = lines.iter().map(|line| line.count).sum();
        OnLines { lines, accesses }
    }

    pub fn accesses(&self) -> u64 {
        self.accesses
    }
}
