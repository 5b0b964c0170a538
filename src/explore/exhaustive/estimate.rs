//! How many executions there are, guessed from a few.
//!
//! # Paper        Knuth 1975: along a random path, the product of the numbers of choices is, on average, the number of leaves.
//! # Misses       A guess, often too low: most paths avoid the few places where a tree is wide.

use super::inputs::values_of;
use crate::explore::machine::{Inputs, Machine, Unobserved};
use crate::explore::scheduler::{Generator, InputRequest};
use crate::explore::thread_id::ThreadId;

/// Random inputs that count what else could have been chosen.
struct Probe<'a> {
    generator: &'a mut Generator,
    width: f64,
}

impl Inputs for Probe<'_> {
    fn input(&mut self, request: &InputRequest<'_>) -> u128 {
        let (values, _) = values_of(request);
        self.width *= values.len() as f64;
        self.generator.pick(&values)
    }
}

/// The mean of so many probes of at most so many transitions each; infinite when one of them is cut.
pub fn estimated_executions(machine: &Machine<'_>, probes: u32, length: u64, seed: u64) -> f64 {
    let mut generator = Generator::new(seed);
    let probe = |_| width_of_a_path(machine.clone(), length, &mut generator);
    (0..probes).map(probe).sum::<f64>() / f64::from(probes)
}

fn width_of_a_path(mut machine: Machine<'_>, length: u64, generator: &mut Generator) -> f64 {
    let mut width = 1.0;
    for _ in 0..length {
        let threads: Vec<ThreadId> = machine.enabled().collect();
        if threads.is_empty() {
            return width;
        }
        let thread = generator.pick(&threads);
        let mut probe = Probe { generator, width: width * threads.len() as f64 };
        machine.step(thread, &mut probe, &mut Unobserved);
        width = probe.width;
    }
    f64::INFINITY
}
