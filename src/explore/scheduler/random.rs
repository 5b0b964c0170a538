//! Random schedules, two sorts in turn: by priorities with few changes, and any thread at every step.
//!
//! # Paper        Burckhardt, Kothari, Musuvathi, Nagarakatte 2010: a bug that needs d orderings is found with a known probability
//!                when the highest priority runs and d - 1 random steps lower it.
//! # Deviations   1. The length of the run is not known: it is guessed anew for each seed.
//!                2. A thread that yields, or runs long while others wait, is lowered too, so that busy waiting ends.

use std::collections::BTreeMap;

use super::{Choice, Choices, Generator, InputRequest, Scheduler};
use crate::explore::sync::Readiness;
use crate::explore::thread_id::ThreadId;

/// So many steps in a row are enough, when others wait.
const PATIENCE: u64 = 2_000;

#[derive(Clone, Debug)]
pub struct Random {
    generator: Generator,
    strategy: Strategy,
}

#[derive(Clone, Debug)]
enum Strategy {
    Uniform,
    Priorities(Priorities),
}

#[derive(Clone, Debug, Default)]
struct Priorities {
    /// The highest runs; each is given once.
    by_thread: BTreeMap<ThreadId, i64>,
    /// Below all that were given.
    lowest: i64,
    /// Steps at which the running thread is lowered, ascending.
    changes: Vec<u64>,
    step: u64,
    /// Steps in a row of the last thread.
    in_a_row: u64,
}

impl Random {
    pub fn new(seed: u64) -> Random {
        let mut generator = Generator::new(seed);
        let strategy = if seed.is_multiple_of(2) {
            let length = 1 << (3 + generator.below(10));
            let count = 1 + generator.below(4);
            let mut changes: Vec<u64> = (0..count).map(|_| generator.below(length)).collect();
            changes.sort_unstable();
            Strategy::Priorities(Priorities { changes, ..Priorities::default() })
        } else {
            Strategy::Uniform
        };
        Random { generator, strategy }
    }
}

impl Scheduler for Random {
    fn next(&mut self, choices: &Choices<'_>) -> Choice {
        Choice::Run(match &mut self.strategy {
            Strategy::Uniform => uniform(choices, &mut self.generator),
            Strategy::Priorities(priorities) => priorities.next(choices, &mut self.generator),
        })
    }

    fn input(&mut self, request: &InputRequest<'_>) -> u128 {
        random_input(&mut self.generator, request)
    }
}

/// Any thread that gets on; now and then one that only gives up or comes round again.
fn uniform(choices: &Choices<'_>, generator: &mut Generator) -> ThreadId {
    if generator.once_in(8) {
        return generator.pick(choices.candidates).thread;
    }
    generator.pick(&choices.preferred())
}

impl Priorities {
    fn next(&mut self, choices: &Choices<'_>, generator: &mut Generator) -> ThreadId {
        for candidate in choices.candidates {
            let random = (generator.word() >> 2) as i64;
            self.by_thread.entry(candidate.thread).or_insert(random);
        }
        let is_due = self.changes.first().is_some_and(|change| *change <= self.step);
        if is_due {
            self.changes.remove(0);
        }
        self.step += 1;
        if let Some(current) = choices.current {
            let has_yielded = choices.candidates.iter().any(|c| c.thread == current && c.has_yielded);
            if is_due || has_yielded || self.in_a_row > PATIENCE {
                self.lower(current);
            }
        }
        // A deadline passes only now and then while others get on.
        let may_give_up = generator.once_in(16);
        let eligible = choices.candidates.iter().filter(|c| may_give_up || c.readiness == Readiness::Ready);
        let best = eligible.max_by_key(|candidate| self.by_thread[&candidate.thread]);
        let chosen = best.map_or_else(|| generator.pick(choices.candidates).thread, |candidate| candidate.thread);
        self.in_a_row = if choices.current == Some(chosen) { self.in_a_row + 1 } else { 0 };
        chosen
    }

    fn lower(&mut self, thread: ThreadId) {
        self.lowest -= 1;
        self.in_a_row = 0;
        self.by_thread.insert(thread, self.lowest);
    }
}

/// Small numbers and the borders of the type more often than the rest.
pub fn random_input(generator: &mut Generator, request: &InputRequest<'_>) -> u128 {
    if let Some(bound) = request.bound {
        return match u64::try_from(bound) {
            Ok(bound) => u128::from(generator.below(bound.max(1))),
            Err(_) => generator.wide() % bound,
        };
    }
    let mask = u128::MAX >> (128 - request.bits.clamp(1, 128));
    let sign = 1u128 << (request.bits.clamp(1, 128) - 1);
    let value = match generator.below(8) {
        0 | 1 => generator.pick(&[0, 1]),
        2 => generator.pick(&[u128::MAX, 2, sign, sign - 1, sign + 1, u128::MAX - 1]),
        3 | 4 => u128::from(generator.below(16)),
        5 => u128::from(generator.below(256)),
        6 => (u128::from(generator.below(16))).wrapping_neg(),
        _ => generator.wide(),
    };
    value & mask
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explore::scheduler::Candidate;

    fn run(seed: u64, steps: usize) -> Vec<u32> {
        let candidates: Vec<Candidate> = (0..3).map(|number| Candidate::ready(ThreadId(number))).collect();
        let (mut random, mut current) = (Random::new(seed), None);
        (0..steps)
            .map(|_| match random.next(&Choices { candidates: &candidates, current }) {
                Choice::Run(thread) => {
                    current = Some(thread);
                    thread.0
                }
                other => panic!("{other:?}"),
            })
            .collect()
    }

    fn switches(order: &[u32]) -> usize {
        order.windows(2).filter(|pair| pair[0] != pair[1]).count()
    }

    #[test]
    fn a_seed_decides_everything() {
        assert_eq!(run(11, 100), run(11, 100));
        assert_ne!(run(11, 100), run(13, 100));
    }

    #[test]
    fn priorities_change_seldom_and_uniform_choices_often() {
        for seed in 0..20 {
            assert!(switches(&run(2 * seed, 500)) <= 4, "seed {}", 2 * seed);
            assert!(switches(&run(2 * seed + 1, 500)) > 200, "seed {}", 2 * seed + 1);
        }
    }

    #[test]
    fn nobody_runs_for_ever_while_others_wait() {
        for seed in 0..10 {
            let order = run(seed, 10_000);
            assert!((0..3).all(|thread| order.contains(&thread)), "seed {seed}");
        }
    }

    #[test]
    fn inputs_fit_and_borders_are_common() {
        let mut generator = Generator::new(3);
        for bits in [1, 8, 16, 32, 64, 128] {
            let request = InputRequest { bits, bound: None, what: "" };
            let values: Vec<u128> = (0..2000).map(|_| random_input(&mut generator, &request)).collect();
            assert!(values.iter().all(|value| request.allows(*value)));
            let border = [0, 1, u128::MAX >> (128 - bits), 1 << (bits - 1)];
            assert!(border.iter().all(|border| values.contains(border)), "{bits}");
        }
        let bounded = InputRequest { bits: 32, bound: Some(3), what: "" };
        assert!((0..100).all(|_| random_input(&mut generator, &bounded) < 3));
    }
}
