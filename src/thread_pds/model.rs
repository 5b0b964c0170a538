//! Thread models as pushdown systems: a symbol for each point of the procedures that a thread comes to.
//!
//! `assign` and `assume` are several points, one for each load, as in the product.

use std::collections::BTreeMap;

use super::lock_table::{Identity, Lock, LockKind, LockTable};
use super::system::{Access, Step, ThreadId, ThreadSystem, Threads};
use crate::locks::Mode;
use crate::locks::history::{Atom, LockId};
use crate::pushdown::{ControlId, Head, Replacement, SymbolId};
use crate::thread_model::{self as model, LockMode, ProcedureIndex, StepKind, Term, ThreadModel, VariableIndex};

/// A step of a procedure; their number stands for its end.
pub type StepPlace = (ProcedureIndex, usize);

/// The threads of a model, and where in it their symbols are.
pub struct ModelThreads {
    pub threads: Threads,
    /// By the number of a place.
    pub places: Vec<StepPlace>,
    /// By thread: the symbol at which a step begins.
    symbols: Vec<BTreeMap<StepPlace, SymbolId>>,
}

impl ModelThreads {
    pub fn of(model: &ThreadModel) -> ModelThreads {
        let mut locks = LockTable::default();
        for lock in &model.locks {
            let kind = match lock.kind {
                model::LockKind::Mutex => LockKind::Mutex,
                model::LockKind::Recursive => LockKind::Recursive,
                model::LockKind::ReadWrite => LockKind::ReadWrite,
            };
            locks.add(Lock { name: lock.name.clone(), kind, identity: Identity::One });
        }
        let mut places: Vec<StepPlace> = Vec::new();
        let mut firsts: Vec<u32> = Vec::new();
        for (procedure, body) in model.procedures.iter().enumerate() {
            firsts.push(places.len() as u32);
            places.extend((0..=body.steps.len()).map(|step| (procedure, step)));
        }
        let mut result = ModelThreads { threads: Threads { locks, ..Threads::default() }, places, symbols: Vec::new() };
        for thread in 0..model.threads.len() {
            let mut writer = Writer::new(model, thread, &firsts);
            writer.write();
            result.symbols.push(writer.symbols);
            result.threads.threads.push(writer.system);
        }
        result
    }

    /// Where a thread that begins a step stands.
    pub fn symbol(&self, thread: usize, place: StepPlace) -> SymbolId {
        self.symbols[thread][&place]
    }

    /// The step that a thread standing at a symbol is about to take, or is in the middle of.
    pub fn step(&self, thread: ThreadId, symbol: SymbolId) -> StepPlace {
        self.places[self.threads.thread(thread).place(symbol) as usize]
    }
}

struct Writer<'m> {
    model: &'m ThreadModel,
    firsts: &'m [u32],
    procedures: Vec<ProcedureIndex>,
    symbols: BTreeMap<StepPlace, SymbolId>,
    system: ThreadSystem,
}

const CONTROL: ControlId = ControlId(0);

impl<'m> Writer<'m> {
    fn new(model: &'m ThreadModel, thread: usize, firsts: &'m [u32]) -> Writer<'m> {
        let body = &model.threads[thread];
        let mut system = ThreadSystem::new(body.name.clone(), SymbolId(0));
        system.instances = body.instances;
        system.holds = body.holds.iter().map(|(lock, mode)| Atom::new(LockId(*lock as u32), mode_of(*mode))).collect();
        let procedures = model.procedures_of(thread);
        let mut symbols = BTreeMap::new();
        for procedure in &procedures {
            for step in 0..=model.procedures[*procedure].steps.len() {
                symbols.insert((*procedure, step), SymbolId::from(system.places.len()));
                system.places.push(firsts[*procedure] + step as u32);
            }
        }
        system.start.symbol = symbols[&(body.entry, 0)];
        Writer { model, firsts, procedures, symbols, system }
    }

    fn write(&mut self) {
        for procedure in self.procedures.clone() {
            let model = self.model;
            let steps = &model.procedures[procedure].steps;
            for (at, step) in steps.iter().enumerate() {
                self.step(procedure, at, &step.kind);
            }
            self.rule(self.symbols[&(procedure, steps.len())], Replacement::Pop, Step::Nothing);
        }
        let count = self.system.places.len();
        // Symbols without a rule belong to the system too.
        let mut system = crate::pushdown::PushdownSystem::new(1, count);
        for (_, rule) in self.system.system.rules() {
            system.add(rule.from, rule.to, rule.replacement, rule.weight);
        }
        self.system.system = system;
    }

    fn rule(&mut self, from: SymbolId, replacement: Replacement, step: Step) {
        self.system.system.add(Head { control: CONTROL, symbol: from }, CONTROL, replacement, step);
    }

    fn step(&mut self, procedure: ProcedureIndex, at: usize, step: &StepKind) {
        let here = self.symbols[&(procedure, at)];
        let to = |target: usize| self.symbols[&(procedure, target)];
        let next = to(at + 1);
        let lock_of = |lock: usize| LockId(lock as u32);
        match step {
            StepKind::Acquire { lock, mode } => {
                self.rule(here, Replacement::Step(next), Step::Acquire { lock: lock_of(*lock), mode: mode_of(*mode) })
            }
            StepKind::Try { lock, mode, then, otherwise } => {
                let (lock, mode) = (lock_of(*lock), mode_of(*mode));
                let (then, otherwise) = (to(then.unwrap_or(at + 1)), to(otherwise.unwrap_or(at + 1)));
                self.rule(here, Replacement::Step(then), Step::TrySucceeded { lock, mode });
                self.rule(here, Replacement::Step(otherwise), Step::TryFailed { lock, mode });
            }
            StepKind::Release { lock } => self.rule(here, Replacement::Step(next), Step::Release { lock: lock_of(*lock) }),
            StepKind::Call { procedure: callee } => {
                let callee = self.symbols[&(*callee, 0)];
                self.rule(here, Replacement::Push { callee, resume: next }, Step::Nothing);
            }
            StepKind::Goto { targets } => {
                let targets: Vec<SymbolId> = targets.iter().map(|target| to(*target)).collect();
                targets.into_iter().for_each(|target| self.rule(here, Replacement::Step(target), Step::Nothing));
            }
            StepKind::Spawn { thread } => {
                self.rule(here, Replacement::Step(next), Step::Spawn { thread: ThreadId(*thread as u32) })
            }
            StepKind::Join { thread } => {
                let step = Step::Join { thread: ThreadId(*thread as u32), is_last: true };
                self.rule(here, Replacement::Step(next), step);
            }
            StepKind::Read { variable } => {
                self.access(here, *variable, false);
                self.rule(here, Replacement::Step(next), Step::Nothing);
            }
            StepKind::Write { variable } => {
                self.access(here, *variable, true);
                self.rule(here, Replacement::Step(next), Step::Nothing);
            }
            StepKind::Assume { condition } => {
                let last = self.loads(here, procedure, at, condition.left, condition.right);
                self.rule(last, Replacement::Step(next), Step::Condition);
            }
            StepKind::Assign { variable, expression } => {
                let last = self.loads(here, procedure, at, expression.left, expression.right);
                self.access(last, *variable, true);
                self.rule(last, Replacement::Step(next), Step::Nothing);
            }
            StepKind::Begin { .. } | StepKind::End { .. } | StepKind::Skip => {
                self.rule(here, Replacement::Step(next), Step::Nothing)
            }
            StepKind::Return => self.rule(here, Replacement::Pop, Step::Nothing),
        }
    }

    /// A symbol for each load, and the one after them.
    fn loads(&mut self, from: SymbolId, procedure: ProcedureIndex, at: usize, left: Term, right: Term) -> SymbolId {
        let mut here = from;
        for variable in Term::variables(left, right) {
            self.access(here, variable, false);
            let next = SymbolId::from(self.system.places.len());
            self.system.places.push(self.firsts[procedure] + at as u32);
            self.rule(here, Replacement::Step(next), Step::Nothing);
            here = next;
        }
        here
    }

    fn access(&mut self, symbol: SymbolId, variable: VariableIndex, is_write: bool) {
        let is_atomic = self.model.variables[variable].is_atomic;
        self.system.accesses.insert(symbol, Access { object: variable as u32, is_write, is_atomic });
    }
}

fn mode_of(mode: LockMode) -> Mode {
    match mode {
        LockMode::Shared => Mode::Shared,
        LockMode::Exclusive => Mode::Exclusive,
    }
}
