//! What random models cover, measured on the models and on what the product shows, not on what the generator meant.

use lockcheck::engines::product::{Answer, Misuse, Product};
use lockcheck::thread_model::{LockKind, LockMode, Question, StepKind, ThreadModel};

use super::random::Random;
use super::recursion::is_recursive;

/// How many models have each feature.
#[derive(Default)]
pub struct Coverage {
    models: usize,
    counts: Vec<(&'static str, usize)>,
}

impl Coverage {
    pub fn add(&mut self, model: &ThreadModel, product: &mut Product<'_>) {
        self.models += 1;
        let steps = || model.procedures.iter().flat_map(|procedure| &procedure.steps);
        let has = |test: &dyn Fn(&StepKind) -> bool| steps().any(|step| test(&step.kind));
        let walk = Walked::of(model);
        let cycle = match product.deadlock() {
            Answer::Yes(witness) => witness.members.len(),
            Answer::Exhausted | Answer::Bounded(_) => 0,
        };
        let races = (0..model.variables.len())
            .any(|variable| product.answer(&Question::Race(variable)).is_some_and(|answer| answer.truth() == Some(true)));
        let features = [
            ("recursive", is_recursive(model)),
            ("calls", has(&|step| matches!(step, StepKind::Call { .. }))),
            ("non-nested", walk.is_not_nested),
            ("spawn with a lock held", walk.spawns_with_lock),
            ("join with a lock held", walk.joins_with_lock),
            ("re-entered lock", walk.reenters),
            ("spawn", has(&|step| matches!(step, StepKind::Spawn { .. }))),
            ("join", has(&|step| matches!(step, StepKind::Join { .. }))),
            ("read locks", has(&|step| matches!(step, StepKind::Acquire { mode: LockMode::Shared, .. }))),
            ("trylock", has(&|step| matches!(step, StepKind::Try { .. }))),
            ("loops", has(&|step| matches!(step, StepKind::Goto { .. })) && loops(model)),
            (
                "three threads or more",
                model.start().count() + usize::from(has(&|step| matches!(step, StepKind::Spawn { .. }))) >= 3,
            ),
            ("race", races),
            ("deadlock", cycle > 0),
            ("deadlock of three", cycle >= 3),
            ("double lock", product.misuses().iter().any(|misuse| matches!(misuse, Misuse::DoubleLock(..)))),
            ("foreign release", product.has_foreign_release()),
            ("lock leak", product.misuses().iter().any(|misuse| matches!(misuse, Misuse::LockLeak(_)))),
            ("cut by a bound", !product.limits().is_empty()),
        ];
        if self.counts.is_empty() {
            self.counts = features.iter().map(|(name, _)| (*name, 0)).collect();
        }
        for (count, (_, has)) in self.counts.iter_mut().zip(features) {
            count.1 += usize::from(has);
        }
    }

    /// How many models have each feature.
    pub fn counts(&self) -> impl Iterator<Item = (&'static str, usize)> + '_ {
        self.counts.iter().copied()
    }

    /// In percent of the models.
    pub fn share(&self, feature: &str) -> f64 {
        let count = self.counts.iter().find(|(name, _)| *name == feature).unwrap_or_else(|| panic!("no feature `{feature}`")).1;
        100.0 * count as f64 / self.models.max(1) as f64
    }

    pub fn print(&self) {
        let lines: Vec<String> = self.counts.iter().map(|(name, _)| format!("{name} {:.1} %", self.share(name))).collect();
        println!("{} models: {}", self.models, lines.join(", "));
    }
}

fn loops(model: &ThreadModel) -> bool {
    let jumps_back =
        |at: usize, step: &StepKind| matches!(step, StepKind::Goto { targets } if targets.iter().any(|target| *target <= at));
    model.procedures.iter().any(|procedure| procedure.steps.iter().enumerate().any(|(at, step)| jumps_back(at, &step.kind)))
}

/// What random walks of each thread alone, with every lock free, have shown.
#[derive(Default)]
struct Walked {
    is_not_nested: bool,
    spawns_with_lock: bool,
    joins_with_lock: bool,
    reenters: bool,
}

impl Walked {
    fn of(model: &ThreadModel) -> Walked {
        let mut walked = Walked::default();
        let mut random = Random::new(1);
        for thread in &model.threads {
            (0..12).for_each(|_| walked.walk(model, thread.entry, &mut random));
        }
        walked
    }

    fn walk(&mut self, model: &ThreadModel, entry: usize, random: &mut Random) {
        let mut stack = vec![(entry, 0)];
        let mut held: Vec<usize> = Vec::new();
        for _ in 0..60 {
            let Some((procedure, at)) = stack.pop() else { break };
            let Some(step) = model.procedures[procedure].steps.get(at) else { continue };
            let mut next = at + 1;
            match &step.kind {
                StepKind::Return => continue,
                StepKind::Call { procedure: callee } => {
                    stack.push((procedure, next));
                    stack.push((*callee, 0));
                    continue;
                }
                StepKind::Goto { targets } => next = *random.pick(targets),
                StepKind::Acquire { lock, .. } => {
                    let again = held.contains(lock);
                    self.reenters |= again && model.locks[*lock].kind == LockKind::Recursive;
                    if again && model.locks[*lock].kind == LockKind::Mutex {
                        return;
                    }
                    held.push(*lock);
                }
                StepKind::Try { lock, then, .. } => {
                    held.push(*lock);
                    next = then.unwrap_or(next);
                }
                StepKind::Release { lock } => {
                    if let Some(place) = held.iter().rposition(|other| other == lock) {
                        self.is_not_nested |= place + 1 != held.len();
                        held.remove(place);
                    }
                }
                StepKind::Spawn { .. } => self.spawns_with_lock |= !held.is_empty(),
                StepKind::Join { .. } => self.joins_with_lock |= !held.is_empty(),
                _ => {}
            }
            stack.push((procedure, next));
        }
    }
}
