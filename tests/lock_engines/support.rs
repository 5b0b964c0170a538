//! A model, its threads and its product, asked the same.

use lockcheck::engines::product::Bounds;
use lockcheck::engines::reachability::{Answer, Target, reachable};
use lockcheck::locks::history::Doubts;
use lockcheck::pushdown::SymbolId;
use lockcheck::thread_model::{StepKind, ThreadModel};
use lockcheck::thread_pds::{Analysis, ModelThreads, Nesting, ThreadId};

pub const BOUNDS: Bounds = Bounds { states: 6_000, stack: 3, threads: 6 };

pub fn parse(text: &str) -> ThreadModel {
    ThreadModel::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Thread, procedure, step.
pub type Place = (usize, usize, usize);

/// All places of a thread, each with its symbols.
pub fn places(threads: &ModelThreads, thread: usize) -> Vec<(Place, Vec<SymbolId>)> {
    let id = ThreadId(thread as u32);
    let mut places: Vec<(Place, Vec<SymbolId>)> = Vec::new();
    for symbol in (0..threads.threads.thread(id).places.len()).map(SymbolId::from) {
        let (procedure, step) = threads.step(id, symbol);
        match places.iter_mut().find(|(place, _)| *place == (thread, procedure, step)) {
            Some((_, symbols)) => symbols.push(symbol),
            None => places.push(((thread, procedure, step), vec![symbol])),
        }
    }
    places
}

/// The answer for steps: of all the symbols that a step has.
pub fn ask(analysis: &mut Analysis<'_>, places: &[&(Place, Vec<SymbolId>)]) -> Answer {
    let mut choices: Vec<Vec<Target>> = vec![Vec::new()];
    for ((thread, ..), symbols) in places.iter().map(|place| (&place.0, &place.1)) {
        let targets = symbols.iter().map(|symbol| Target { thread: ThreadId(*thread as u32), symbol: *symbol });
        choices = targets
            .flat_map(|target| choices.iter().map(move |choice| choice.iter().copied().chain([target]).collect()))
            .collect();
    }
    let mut answers: Vec<Answer> = choices.iter().map(|targets| reachable(analysis, targets)).collect();
    let best = answers.iter().position(|answer| answer.truth() == Some(true));
    let best = best.or_else(|| answers.iter().position(|answer| answer.truth().is_none()));
    answers.swap_remove(best.unwrap_or(0))
}

/// Whether the theory decides every query about a model.
pub fn is_decided(model: &ThreadModel, analysis: &Analysis<'_>) -> bool {
    let undecided = |step: &StepKind| {
        matches!(step, StepKind::Try { .. } | StepKind::Spawn { .. } | StepKind::Join { .. } | StepKind::Assume { .. })
    };
    let steps = || model.procedures.iter().flat_map(|procedure| &procedure.steps);
    let is_reliable = analysis.threads.locks.ids().all(|lock| analysis.is_reliable(lock));
    if !is_reliable || steps().any(|step| undecided(&step.kind)) {
        return false;
    }
    let mut whole = Analysis::of_all_locks(analysis.threads);
    analysis.threads.ids().all(|thread| whole.nesting(thread) == Nesting::Nested)
}

pub fn doubts(answer: &Answer) -> Doubts {
    match answer {
        Answer::Possible(doubts) => *doubts,
        Answer::Yes(_) | Answer::Refuted(_) => Doubts::NONE,
    }
}
