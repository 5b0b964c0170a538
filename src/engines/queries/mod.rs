//! The queries of a thread model: answered by the lock engines where they are sure, else by the product within its bounds, else open.
//!
//! What the lock engines are sure of holds at any depth of recursion, where the product sees the beginning only. The product shows the steps
//! of what is so, where it comes that far. If both are sure and differ, one of them is wrong: that is a bug of ours and ends the run.

mod words;

use std::collections::BTreeSet;

use crate::engines::deadlock::{self, deadlocks};
use crate::engines::product::{self, Bounds, Limit, Product};
use crate::engines::reachability::{self, RaceAnswer, Target, race, reachable};
use crate::locks::history::{Doubt, Doubts};
use crate::thread_model::{Place, Question, ThreadModel};
use crate::thread_pds::{Analysis, ModelThreads, ThreadId};

/// The answer to one question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answered {
    /// What is certain.
    pub truth: Option<bool>,
    /// In words: "yes, …", "no: …" or what was not excluded.
    pub sentence: String,
    /// The steps that show it.
    pub lines: Vec<String>,
}

/// Answers to questions about one model, in their order; `None` for those that are not about states.
pub fn answer_all<'q>(model: &ThreadModel, questions: impl IntoIterator<Item = &'q Question>) -> Vec<Option<Answered>> {
    let threads = ModelThreads::of(model);
    let analysis = Analysis::of(&threads.threads);
    let mut asked = Asked { model, threads: &threads, analysis, product: None };
    questions.into_iter().map(|question| asked.answer(question)).collect()
}

/// What the lock engines say.
enum ByLocks {
    Yes(Vec<String>),
    No(String),
    Open(Doubts),
}

struct Asked<'m> {
    model: &'m ThreadModel,
    threads: &'m ModelThreads,
    analysis: Analysis<'m>,
    product: Option<Product<'m>>,
}

impl<'m> Asked<'m> {
    fn answer(&mut self, question: &Question) -> Option<Answered> {
        let by_locks = match question {
            Question::Reachable(places) => self.reachable(places),
            Question::Race(variable) => self.race(*variable as u32),
            Question::Deadlock => self.deadlock(),
            Question::Other(_) => return None,
        };
        if let ByLocks::No(reason) = by_locks {
            return Some(Answered { truth: Some(false), sentence: format!("no: {reason}"), lines: Vec::new() });
        }
        let model = self.model;
        let product = self.product.get_or_insert_with(|| Product::explore(model, &Bounds::default()));
        let found = product.answer(question)?;
        let states = product.states();
        Some(match (found, by_locks) {
            (product::Answer::Yes(witness), _) => {
                let sentence = format!("yes, after {} steps", witness.moves.len());
                Answered { truth: Some(true), sentence, lines: witness.lines(model) }
            }
            (product::Answer::Exhausted, ByLocks::Open(_) | ByLocks::No(_)) => {
                Answered { truth: Some(false), sentence: format!("no, in all {states} states"), lines: Vec::new() }
            }
            (product::Answer::Exhausted, ByLocks::Yes(lines)) => {
                panic!("the lock engines are sure of what no state shows: {question:?}\n{}", lines.join("\n"))
            }
            (product::Answer::Bounded(_), ByLocks::Yes(lines)) => {
                Answered { truth: Some(true), sentence: "yes, by lock histories that agree".to_owned(), lines }
            }
            (product::Answer::Bounded(limits), ByLocks::Open(doubts)) => open(&limits, doubts),
            (product::Answer::Bounded(_), ByLocks::No(_)) => unreachable!("answered before"),
        })
    }

    fn target(&self, place: &Place) -> Target {
        let symbol = self.threads.symbol(place.thread, self.model.place(place));
        Target { thread: ThreadId(place.thread as u32), symbol }
    }

    fn reachable(&mut self, places: &[Place]) -> ByLocks {
        let targets: Vec<Target> = places.iter().map(|place| self.target(place)).collect();
        match reachable(&mut self.analysis, &targets) {
            reachability::Answer::Yes(standing) => ByLocks::Yes(self.ways(&standing)),
            reachability::Answer::Refuted(reason) => ByLocks::No(self.refutation(&reason)),
            reachability::Answer::Possible(doubts) => ByLocks::Open(doubts),
        }
    }

    fn race(&mut self, object: u32) -> ByLocks {
        match race(&mut self.analysis, object) {
            RaceAnswer::Yes(_, standing) => ByLocks::Yes(self.ways(&standing)),
            RaceAnswer::Refuted(pairs) => ByLocks::No(match &pairs[..] {
                [] => "no two threads access it, one of them to write".to_owned(),
                [(_, reason)] => self.refutation(reason),
                [(_, reason), ..] => format!("{}; and {} more pairs, each excluded", self.refutation(reason), pairs.len() - 1),
            }),
            RaceAnswer::Possible(_, doubts) => ByLocks::Open(doubts),
        }
    }

    fn deadlock(&mut self) -> ByLocks {
        let found = deadlocks(&mut self.analysis);
        match (found.truth(), found.cycles.first()) {
            (Some(true), Some(cycle)) => ByLocks::Yes(self.cycle(cycle)),
            (Some(false), _) => ByLocks::No(match &found.dismissed[..] {
                [] => "no cycle in the order of locks".to_owned(),
                [deadlock::DismissedCycle { reason, .. }] => {
                    format!("a cycle in the order of locks, but {}", self.dismissal(reason))
                }
                [deadlock::DismissedCycle { reason, .. }, ..] => {
                    format!("{} cycles in the order of locks, the first: {}", found.dismissed.len(), self.dismissal(reason))
                }
            }),
            (_, cycle) => ByLocks::Open(cycle.map_or(Doubts::of(Doubt::TooMany), |cycle| cycle.doubts)),
        }
    }
}

fn open(limits: &BTreeSet<Limit>, doubts: Doubts) -> Answered {
    let limits: Vec<&str> = limits.iter().map(|limit| limit.name()).collect();
    let doubts: Vec<&str> = doubts.iter().map(Doubt::sentence).collect();
    let sentence = format!(
        "not found; not excluded either: bounded was the {}; and locks do not decide it: {}",
        limits.join(", the "),
        doubts.join(", ")
    );
    Answered { truth: None, sentence, lines: Vec::new() }
}
