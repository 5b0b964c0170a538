//! Random sequential C programs with one right answer.
//!
//! `sequential_program(seed)` gives a complete C program whose output and exit code every correct implementation of the
//! same data model must agree on: it has no undefined or unspecified behaviour, reads no input, and prints many
//! intermediate values, so that a difference points at the section it comes from. It is meant to be compared with the
//! native binary at -O0 and -O2 (`-ffp-contract=off -lm`, and `-msse2 -mfpmath=sse` for i386).
//!
//! A program is a random choice of sections, each from one topic file here; a section is a template whose types,
//! constants, sizes and expressions are random (`expression` shows why those are well defined).

mod aggregates;
mod arithmetic;
mod builder;
mod calls;
mod control_flow;
mod expression;
mod floats;
mod formats;
mod globals;
mod kind;
mod memory;
mod pointers;
mod random;
mod sorting;
mod strings;
mod variadic;
mod vector_loops;
mod wide_integers;

use builder::Builder;
use std::collections::BTreeSet;

pub struct Generated {
    pub source: String,
    /// What of C the program uses, for coverage over many seeds.
    pub features: BTreeSet<&'static str>,
}

/// Adds one section of its topic to the program.
type Topic = fn(&mut Builder);

/// The topics with their weight in the choice: those with more variants are chosen more often.
const TOPICS: [(u64, Topic); 14] = [
    (6, arithmetic::integer_section),
    (5, wide_integers::section),
    (6, control_flow::section),
    (4, pointers::section),
    (5, aggregates::section),
    (4, calls::section),
    (2, variadic::section),
    (4, globals::section),
    (4, memory::section),
    (2, sorting::section),
    (4, strings::section),
    (2, formats::section),
    (5, floats::section),
    (2, vector_loops::section),
];

/// Lines of sections after which none is added: a difference is easier to see in a short program.
const LONG_ENOUGH: usize = 165;

/// The program of a seed: the same text on every machine.
pub fn sequential_program(seed: u64) -> Generated {
    let mut builder = Builder::new(seed);
    let total: u64 = TOPICS.iter().map(|(weight, _)| weight).sum();
    for _ in 0..builder.random.between(3, 5) {
        if builder.lines() > LONG_ENOUGH {
            break;
        }
        let mut place = builder.random.below(total);
        for (weight, section) in TOPICS {
            if place < weight {
                section(&mut builder);
                break;
            }
            place -= weight;
        }
    }
    let (source, features) = builder.finish();
    Generated { source, features }
}

#[cfg(test)]
mod tests {
    use super::sequential_program;
    use std::collections::BTreeMap;

    #[test]
    fn a_seed_names_one_program() {
        assert_eq!(sequential_program(7).source, sequential_program(7).source);
        assert_ne!(sequential_program(7).source, sequential_program(8).source);
    }

    #[test]
    fn every_feature_is_in_one_program_of_twenty() {
        let programs = 400;
        let mut uses: BTreeMap<&str, u32> = BTreeMap::new();
        for seed in 0..programs {
            for feature in sequential_program(seed).features {
                *uses.entry(feature).or_default() += 1;
            }
        }
        for (feature, count) in &uses {
            println!("{feature:28} {:5.1} %", 100.0 * f64::from(*count) / programs as f64);
        }
        let rare: Vec<_> = uses.iter().filter(|(_, count)| u64::from(**count) * 20 < programs).collect();
        assert!(rare.is_empty(), "too rare: {rare:?}");
    }
}
