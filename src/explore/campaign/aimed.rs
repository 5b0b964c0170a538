//! Runs aimed at what is suspected, in rounds: each suspicion gets one run a round until it is shown, so that none eats the time of the others.

use std::collections::BTreeSet;

use super::run::Done;
use super::{Campaign, Effort};
use crate::explore::bugs::Bug;
use crate::explore::machine::Machine;
use crate::explore::scheduler::{Biased, Generator, Target};
use crate::explore::workers;
use crate::findings::Rule;
use crate::program::SiteId;

/// What a suspicion is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Suspicion {
    #[default]
    Race,
    /// Threads that wait at these sites for each other; two of them wait at the sites of a target.
    Deadlock,
    /// A fault that one thread makes by itself at this line; it is called by this rule.
    Own(Rule),
}

/// One suspected bug: pairs of sites, any of which would show it.
#[derive(Clone, Debug, Default)]
pub struct Aim {
    pub suspicion: Suspicion,
    pub targets: Vec<Target>,
    /// The whole object, by the name that runs give it.
    pub whole: String,
    /// File, function and line of each end.
    pub lines: BTreeSet<(String, String, u32)>,
    /// How many runs were aimed at it.
    pub tried: u64,
    pub is_shown: bool,
}

/// How much may be spent on all aims together, beside what was spent before.
#[derive(Clone, Copy, Debug)]
pub struct AimedEffort {
    /// Runs for each aim.
    pub schedules: u64,
    /// Time, steps, and threads; its number of schedules does not count.
    pub effort: Effort,
}

impl Aim {
    /// Whether this is the bug that is suspected: the same rule, object and lines; of threads that are stuck there may be more.
    pub fn is_met_by(&self, bug: &Bug) -> bool {
        let (rule, whole, lines) = bug.key();
        let lines: BTreeSet<_> = lines.into_iter().collect();
        match self.suspicion {
            Suspicion::Race => rule == Rule::DataRace && whole == self.whole && lines == self.lines,
            Suspicion::Deadlock => rule == Rule::Deadlock && self.lines.is_subset(&lines),
            Suspicion::Own(expected) => rule == expected && self.lines == lines,
        }
    }
}

impl Campaign {
    /// Aims at each until it is shown or enough was tried. Other bugs that come by are kept as well.
    pub fn add_aimed(&mut self, machine: &Machine<'_>, aims: &mut [Aim], effort: &AimedEffort, progress: &mut dyn FnMut(u64)) {
        let most_steps = self.steps.saturating_add(effort.effort.steps);
        for round in 0..effort.schedules {
            let open: Vec<usize> =
                (0..aims.len()).filter(|&index| !aims[index].is_shown && !aims[index].targets.is_empty()).collect();
            if open.is_empty() || self.is_determined {
                return;
            }
            // So many at once that all threads have work; shown is decided between rounds only, whatever their number.
            for part in open.chunks(effort.effort.jobs.max(1) * 4) {
                let Some(limits) = self.limits_of_a_run(&effort.effort) else { return };
                progress(round);
                let runs = workers::in_order(effort.effort.jobs, 0..part.len() as u64, |number| {
                    let index = part[number as usize];
                    let targets = &aims[index].targets;
                    let target = targets[(round % targets.len() as u64) as usize];
                    let mut scheduler = Biased::new(target, seed(effort.effort.seed, index as u64, round));
                    Done::by(machine, &mut scheduler, &limits)
                });
                for (index, done) in part.iter().zip(runs) {
                    if self.steps >= most_steps {
                        return;
                    }
                    aims[*index].tried += 1;
                    let is_hit = |target: &Target| done.races.contains(&ordered(target.sites));
                    for aim in aims.iter_mut() {
                        aim.is_shown |= aim.suspicion == Suspicion::Race && aim.targets.iter().any(is_hit)
                            || done.bugs.iter().any(|bug| aim.is_met_by(bug));
                    }
                    self.add(done);
                }
            }
        }
    }
}

fn ordered([one, other]: [SiteId; 2]) -> [SiteId; 2] {
    [one.min(other), one.max(other)]
}

/// The seed of one run: far from those of all others.
fn seed(first: u64, aim: u64, round: u64) -> u64 {
    let mut generator = Generator::new(first ^ aim.rotate_left(32) ^ round);
    generator.word()
}
