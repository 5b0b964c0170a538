//! Random small concurrent C programs, for twins that look at every execution.
//!
//! `concurrent_program(seed)` gives a complete C program of two or three threads with about a dozen shared accesses and synchronisation
//! operations, without loops that wait: all its executions can be tried. Every datum has a discipline that protects it. A *careful*
//! program keeps all of them, so that about half of the programs have no race; the others break one now and then, by a lock that is
//! missing, another one, released early, of the wrong mode, by a weak ordering, by a join that comes too late.
//!
//! A program is planned by `data` (what is shared and how it is protected), filled by `section` (critical sections in all their forms)
//! and `protocol` (ownership passed on without locks), and started by `threads` (how threads begin and end).

mod data;
mod protocol;
#[path = "../generator/random.rs"]
mod random;
mod section;
mod threads;
mod writer;

use std::collections::BTreeSet;

use writer::Writer;

pub struct Generated {
    pub source: String,
    /// What the program uses, for coverage over many seeds.
    pub features: BTreeSet<&'static str>,
    /// No discipline is broken.
    pub is_careful: bool,
}

/// The program of a seed: the same text on every machine.
pub fn concurrent_program(seed: u64) -> Generated {
    let attempts = (0..).map(|attempt| seed.wrapping_mul(1 << 8) + attempt);
    let mut programs = attempts.map(|seed| {
        let mut writer = Writer::new(seed);
        let data = data::choose(&mut writer);
        threads::write(&mut writer, &data);
        writer.finish()
    });
    programs.find(|program| program.source.lines().count() <= MOST_LINES).expect("most attempts are short")
}

/// A longer program is not read by anyone who looks for its bug.
const MOST_LINES: usize = 40;

#[cfg(test)]
mod tests {
    use super::concurrent_program;
    use std::collections::BTreeMap;

    #[test]
    fn a_seed_names_one_program() {
        assert_eq!(concurrent_program(7).source, concurrent_program(7).source);
        assert_ne!(concurrent_program(7).source, concurrent_program(8).source);
    }

    #[test]
    fn programs_are_short_and_every_feature_comes_often_enough() {
        let programs = 1000;
        let mut uses: BTreeMap<&str, u64> = BTreeMap::new();
        for seed in 0..programs {
            let generated = concurrent_program(seed);
            let lines = generated.source.lines().count();
            assert!(lines <= 40, "seed {seed} has {lines} lines:\n{}", generated.source);
            generated.features.into_iter().for_each(|feature| *uses.entry(feature).or_default() += 1);
        }
        for (feature, count) in &uses {
            println!("{feature:28} {:5.1} %", 100.0 * *count as f64 / programs as f64);
        }
        let rare: Vec<_> = uses.iter().filter(|(_, count)| **count * 200 < programs).collect();
        assert!(uses.len() >= 50 && rare.is_empty(), "{} features, too rare: {rare:?}", uses.len());
    }
}
