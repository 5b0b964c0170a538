//! Can distinct threads stand at given places at once, as far as locks and creation decide?
//!
//! # Definition   One participant for each place, and one for each other thread that holds locks at the start (the others need not move). They can if there
//!                are paths, one each, whose lock histories are compatible (`locks::history`).
//! # Theorem      *Refuted* is exact: no run exists. This needs no nesting, and histories on certain facts only. *Yes* is exact for the lock model: the paths are
//!                nested, or two and contextual (`contextual`), nobody among the participants is created, and none of the paths has another doubt. All
//!                else that passes is *possible*.
//! # Paper        Kahlon, Ivančić, Gupta 2005, propositions 1 and 6, theorem 5; Kidd, Lammich, Touili, Reps 2009, appendix B.
//! # Deviations   1. Any number of places.  2. A created participant is compared with its creator from its creation on, and two that never exist at
//!                once are refuted (`together`); this refutes more than the histories alone, and proves nothing.
//! # Misses       What needs more than locks and creation to be refuted (joins elsewhere, data, failed trylocks, locks of three that are not nested) is possible.

pub mod contextual;
mod race;
mod together;

use std::rc::Rc;

use contextual::Wanted;
pub use race::{RaceAnswer, RacePair, pairs, race};
pub use together::{NotTogether, not_together};

use crate::locks::history::{Doubt, Doubts, Incompatible, Whole, check_last};
use crate::pushdown::SymbolId;
use crate::thread_pds::{Analysis, Origin, ThreadId};

/// An instance of a thread, standing before a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Target {
    pub thread: ThreadId,
    pub symbol: SymbolId,
}

/// A participant: where it stands, how it came into being, with which history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    pub thread: ThreadId,
    pub origin: Origin,
    /// `None` for a participant that may be anywhere.
    pub symbol: Option<SymbolId>,
    pub history: Whole,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// A run exists, made of paths with these histories.
    Yes(Vec<Standing>),
    /// No run exists; why, for one of the ways to choose paths.
    Refuted(Refutation),
    /// No history forbids it, but these doubts remain.
    Possible(Doubts),
}

impl Answer {
    /// What is certain.
    pub fn truth(&self) -> Option<bool> {
        match self {
            Answer::Yes(_) => Some(true),
            Answer::Refuted(_) => Some(false),
            Answer::Possible(_) => None,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refutation {
    /// No path of the thread leads there, with all locks free.
    NotReached(Target),
    /// There are not as many instances.
    TooFewInstances(ThreadId),
    /// Creation and joining keep two of them apart.
    NotTogether { one: Standing, other: Standing, reason: NotTogether },
    /// Two threads give back what they took in the call that took it, and none of their runs leads there.
    Contextual([Target; 2]),
    /// Locks do.
    Locks { participants: Vec<Standing>, reason: Incompatible },
}

/// How many choices of histories are looked at.
const MOST_CHOICES: usize = 400_000;

/// Whether distinct instances can stand at all of these at once.
pub fn reachable(analysis: &mut Analysis<'_>, targets: &[Target]) -> Answer {
    let mut refuted = None;
    let mut possible = None;
    for origins in assignments(analysis, targets) {
        match with_origins(analysis, targets, &origins) {
            Answer::Yes(standing) => return Answer::Yes(standing),
            Answer::Possible(doubts) => possible = possible.or(Some(doubts)),
            Answer::Refuted(reason) => refuted = refuted.or(Some(reason)),
        }
    }
    match (possible, refuted) {
        (Some(doubts), _) => contextually(analysis, targets, doubts),
        (None, Some(reason)) => Answer::Refuted(reason),
        (None, None) => Answer::Refuted(Refutation::TooFewInstances(scarce(analysis, targets))),
    }
}

/// What two threads with contextual locking do is decided, where histories leave it open.
fn contextually(analysis: &mut Analysis<'_>, targets: &[Target], doubts: Doubts) -> Answer {
    let [one, other] = *targets else { return Answer::Possible(doubts) };
    if !contextual::is_for(analysis, [one.thread, other.thread], doubts) {
        return Answer::Possible(doubts);
    }
    let wanted = [one, other].map(|target| Wanted { thread: target.thread, symbol: target.symbol, holds: None });
    match contextual::together(analysis, wanted) {
        None => Answer::Possible(doubts),
        Some(false) => Answer::Refuted(Refutation::Contextual([one, other])),
        Some(true) => {
            let participant = |analysis: &mut Analysis<'_>, target: Target| Participant {
                thread: target.thread,
                origin: Origin::Start,
                symbol: Some(target.symbol),
                histories: analysis.histories_at(target.thread, Origin::Start, target.symbol),
            };
            let both = [one, other].map(|target| participant(analysis, target));
            Answer::Yes(chosen(analysis, both.into()).1)
        }
    }
}

/// All ways to say of each participant how it came into being, with as many instances as there can be.
fn assignments(analysis: &Analysis<'_>, targets: &[Target]) -> Vec<Vec<Origin>> {
    let mut all: Vec<Vec<Origin>> = vec![Vec::new()];
    for (at, target) in targets.iter().enumerate() {
        let mut longer = Vec::new();
        for before in &all {
            for origin in [Origin::Start, Origin::Created] {
                let same = |other: usize| targets[other].thread == target.thread && before[other] == origin;
                let taken = (0..at).filter(|other| same(*other)).count();
                if taken < analysis.population.with_origin(target.thread, origin) {
                    longer.push(before.iter().copied().chain([origin]).collect());
                }
            }
        }
        all = longer;
    }
    all
}

fn scarce(analysis: &Analysis<'_>, targets: &[Target]) -> ThreadId {
    let wanted = |thread: ThreadId| targets.iter().filter(|target| target.thread == thread).count();
    let is_scarce = |target: &&Target| analysis.population.instances(target.thread) < wanted(target.thread);
    targets.iter().find(is_scarce).unwrap_or(&targets[0]).thread
}

fn with_origins(analysis: &mut Analysis<'_>, targets: &[Target], origins: &[Origin]) -> Answer {
    let mut participants: Vec<Participant> = Vec::new();
    for (target, origin) in targets.iter().zip(origins) {
        let histories = analysis.histories_at(target.thread, *origin, target.symbol);
        if histories.is_empty() {
            return Answer::Refuted(Refutation::NotReached(*target));
        }
        participants.push(Participant { thread: target.thread, origin: *origin, symbol: Some(target.symbol), histories });
    }
    if let Some((one, other, reason)) = apart(analysis, &participants) {
        let standing = |at: usize| participants[at].standing(0);
        return Answer::Refuted(Refutation::NotTogether { one: standing(one), other: standing(other), reason });
    }
    choose(analysis, participants)
}

/// The first two that are never there at once.
fn apart(analysis: &mut Analysis<'_>, participants: &[Participant]) -> Option<(usize, usize, NotTogether)> {
    for one in 0..participants.len() {
        for other in one + 1..participants.len() {
            if let Some(reason) = not_together(analysis, participants[one].place(), participants[other].place()) {
                return Some((one, other, reason));
            }
        }
    }
    None
}

/// A participant with all the histories it may have.
#[derive(Clone, Debug)]
pub struct Participant {
    pub thread: ThreadId,
    pub origin: Origin,
    pub symbol: Option<SymbolId>,
    pub histories: Rc<[Whole]>,
}

impl Participant {
    pub fn standing(&self, history: usize) -> Standing {
        Standing { thread: self.thread, origin: self.origin, symbol: self.symbol, history: self.histories[history].clone() }
    }

    pub fn place(&self) -> (ThreadId, Origin, SymbolId) {
        (self.thread, self.origin, self.symbol.expect("a target stands somewhere"))
    }
}

/// Adds those who hold locks at the start and are not among the participants: others may have to wait until they release them.
fn with_holders(analysis: &mut Analysis<'_>, mut participants: Vec<Participant>) -> Vec<Participant> {
    for thread in analysis.threads.ids() {
        let holds = analysis.threads.thread(thread).instances > 0 && !analysis.threads.thread(thread).holds.is_empty();
        let is_there = participants.iter().any(|other| other.thread == thread && other.origin == Origin::Start);
        if holds && !is_there {
            let histories = analysis.histories_anywhere(thread, Origin::Start);
            participants.push(Participant { thread, origin: Origin::Start, symbol: None, histories });
        }
    }
    participants
}

/// Looks for one history each, all compatible: first among those without doubts.
pub fn choose(analysis: &mut Analysis<'_>, participants: Vec<Participant>) -> Answer {
    chosen(analysis, participants).0
}

/// The same, and what was chosen where it is not refuted; where nothing could be chosen in time, anything.
pub fn chosen(analysis: &mut Analysis<'_>, participants: Vec<Participant>) -> (Answer, Vec<Standing>) {
    let participants = with_holders(analysis, participants);
    let mut search = Search { participants: &participants, chosen: Vec::new(), choices: 0, refuted: None };
    let is_created = participants.iter().any(|participant| participant.origin == Origin::Created);
    if !is_created && search.run(true) == Some(true) {
        return (Answer::Yes(search.standing()), search.standing());
    }
    let (mut search, choices) = (Search { chosen: Vec::new(), refuted: None, ..search.clone() }, search.choices);
    search.choices = choices.min(MOST_CHOICES / 2);
    match search.run(false) {
        Some(true) => {
            let standing = search.standing();
            let doubts = standing.iter().fold(Doubts::NONE, |doubts, one| doubts.union(one.history.doubts));
            (Answer::Possible(if is_created { doubts.with(Doubt::Created) } else { doubts }), standing)
        }
        Some(false) => {
            let (participants, reason) = search.refuted.expect("what does not fit has a reason");
            (Answer::Refuted(Refutation::Locks { participants, reason }), Vec::new())
        }
        None => {
            let standing = participants.iter().map(|participant| participant.standing(0)).collect();
            (Answer::Possible(Doubts::of(Doubt::TooMany)), standing)
        }
    }
}

#[derive(Clone)]
struct Search<'p> {
    participants: &'p [Participant],
    chosen: Vec<usize>,
    choices: usize,
    /// The first choice that did not fit, and why.
    refuted: Option<(Vec<Standing>, Incompatible)>,
}

impl Search<'_> {
    fn standing(&self) -> Vec<Standing> {
        self.participants.iter().zip(&self.chosen).map(|(participant, history)| participant.standing(*history)).collect()
    }

    /// Whether the chosen ones can be completed; `None` when that takes too long.
    fn run(&mut self, without_doubts: bool) -> Option<bool> {
        let Some(participant) = self.participants.get(self.chosen.len()) else { return Some(true) };
        for history in 0..participant.histories.len() {
            if without_doubts && !participant.histories[history].doubts.is_empty() {
                continue;
            }
            self.choices += 1;
            if self.choices > MOST_CHOICES {
                return None;
            }
            self.chosen.push(history);
            let wholes: Vec<&Whole> = self
                .participants
                .iter()
                .zip(&self.chosen)
                .map(|(participant, history)| &participant.histories[*history])
                .collect();
            match check_last(&wholes) {
                Ok(()) => match self.run(without_doubts) {
                    Some(false) => {}
                    found => return found,
                },
                Err(reason) => {
                    if self.refuted.is_none() {
                        self.refuted = Some((self.standing(), reason));
                    }
                }
            }
            self.chosen.pop();
        }
        Some(false)
    }
}
