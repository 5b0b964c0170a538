//! One step of one thread: the states it leads to, or what the thread waits for.

use smallvec::SmallVec;

use super::code::Operation;
use super::locks::{LockState, Taking};
use super::state::{Counts, StackId, State, ThreadState};
use super::{Limit, Misuse, Product};
use crate::thread_model::{LockIndex, LockMode, Term};

/// What the next step of a thread comes to in a state.
#[derive(Debug, Default)]
pub struct Outcome {
    pub states: SmallVec<[State; 2]>,
    /// The thread can take its step, even when what it leads to is cut off.
    pub is_enabled: bool,
    /// The slots it waits for, as bits; itself if it holds the lock.
    pub waits_for: u16,
    pub limit: Option<Limit>,
    pub misuse: Option<Misuse>,
    pub is_foreign_release: bool,
}

impl Outcome {
    fn to(states: impl IntoIterator<Item = State>) -> Outcome {
        Outcome { states: states.into_iter().collect(), is_enabled: true, ..Outcome::default() }
    }

    fn cut(limit: Limit) -> Outcome {
        Outcome { is_enabled: true, limit: Some(limit), ..Outcome::default() }
    }
}

impl Product<'_> {
    /// `None` when there are more threads than fit.
    pub(super) fn first_state(&mut self) -> Option<State> {
        let start: Vec<usize> = self.model.start().collect();
        if start.len() > self.bounds.threads || self.model.threads.len() > 16 {
            return None;
        }
        let threads = start.iter().map(|thread| self.new_thread(*thread)).collect();
        let mut locks: SmallVec<[LockState; 6]> = self.model.locks.iter().map(|_| LockState::Free).collect();
        for (slot, thread) in start.iter().enumerate() {
            for (lock, mode) in &self.model.threads[*thread].holds {
                let Taking::Taken(taken) = locks[*lock].take(self.model.locks[*lock].kind, slot, *mode) else {
                    panic!("a model whose threads hold one lock at once was accepted")
                };
                locks[*lock] = taken;
            }
        }
        let variables = self.model.variables.iter().map(|variable| variable.initial).collect();
        Some(State { threads, locks, variables })
    }

    fn new_thread(&mut self, thread: usize) -> ThreadState {
        let stack = self.stacks.push(self.code.point(self.model.threads[thread].entry, 0), StackId::EMPTY);
        ThreadState { thread: thread as u8, stack, registers: [0; 2], handles: Counts::default() }
    }

    /// What the thread in a slot, which has not ended, can do next.
    pub(super) fn successors(&mut self, state: &State, slot: usize) -> Outcome {
        let acting = state.threads[slot];
        let point = self.stacks.top(acting.stack).expect("a thread that has ended takes no step");
        let below = self.stacks.below(acting.stack);
        let (procedure, step) = self.code.step(point);
        // The same state with the thread at another point.
        let mut next_state = state.clone();
        next_state.threads[slot].stack = self.stacks.push(point.next(), below);
        match self.code.operation(point).clone() {
            Operation::Skip => Outcome::to([next_state]),
            Operation::Jump { targets } => {
                let mut states = SmallVec::<[State; 2]>::new();
                for target in targets {
                    next_state.threads[slot].stack = self.stacks.push(target, below);
                    states.push(next_state.clone());
                }
                Outcome::to(states)
            }
            Operation::Call { entry } => {
                if self.stacks.height(acting.stack) >= self.bounds.stack {
                    return Outcome::cut(Limit::Stack);
                }
                next_state.threads[slot].stack = self.stacks.push(entry, next_state.threads[slot].stack);
                Outcome::to([next_state])
            }
            Operation::Return => {
                next_state.threads[slot].stack = below;
                let is_leak = below == StackId::EMPTY && state.locks.iter().any(|lock| lock.holders() & (1 << slot) != 0);
                let misuse = is_leak.then_some(Misuse::LockLeak(usize::from(acting.thread)));
                Outcome { misuse, ..Outcome::to([next_state]) }
            }
            Operation::Acquire { lock, mode } => match self.take(state, lock, mode, slot) {
                Taking::Taken(taken) => {
                    next_state.locks[lock] = taken;
                    Outcome::to([next_state])
                }
                Taking::Refused => Outcome { misuse: Some(Misuse::DoubleLock(procedure, step)), ..Outcome::to([next_state]) },
                Taking::Overflow => Outcome::cut(Limit::Counts),
                Taking::Busy => {
                    let holders = state.locks[lock].holders();
                    let misuse = (holders & (1 << slot) != 0).then_some(Misuse::DoubleLock(procedure, step));
                    Outcome { waits_for: holders, misuse, ..Outcome::default() }
                }
            },
            Operation::Try { lock, mode, then, otherwise } => {
                let target = match self.take(state, lock, mode, slot) {
                    Taking::Taken(taken) => {
                        next_state.locks[lock] = taken;
                        then
                    }
                    Taking::Busy | Taking::Refused => otherwise,
                    Taking::Overflow => return Outcome::cut(Limit::Counts),
                };
                next_state.threads[slot].stack = self.stacks.push(target, below);
                Outcome::to([next_state])
            }
            Operation::Release { lock } => {
                let giving = state.locks[lock].give(self.model.locks[lock].kind, slot);
                next_state.locks[lock] = giving.state;
                let misuse = giving.is_misuse.then_some(Misuse::UnlockNotHeld(procedure, step));
                Outcome { misuse, is_foreign_release: giving.is_foreign, ..Outcome::to([next_state]) }
            }
            Operation::Read { variable, register } => {
                if let Some(register) = register {
                    next_state.threads[slot].registers[register] = state.variables[variable];
                }
                Outcome::to([next_state])
            }
            Operation::Write { variable, value } => {
                if let Some(expression) = value {
                    let [left, right] = operands(acting.registers, expression.left, expression.right);
                    next_state.variables[variable] = expression.value(left, right);
                }
                next_state.threads[slot].registers = [0; 2];
                Outcome::to([next_state])
            }
            Operation::Check { condition } => {
                let [left, right] = operands(acting.registers, condition.left, condition.right);
                next_state.threads[slot].registers = [0; 2];
                if condition.comparison.holds(left, right) { Outcome::to([next_state]) } else { Outcome::default() }
            }
            Operation::Spawn { thread } => {
                if state.threads.len() >= self.bounds.threads {
                    return Outcome::cut(Limit::Threads);
                }
                let child = state.threads.len();
                next_state.threads[slot].handles = acting.handles.with(thread, child as u8 + 1);
                next_state.threads.push(self.new_thread(thread));
                Outcome::to([next_state])
            }
            Operation::Join { thread } => match acting.handles.get(thread).checked_sub(1) {
                Some(child) if state.threads[usize::from(child)].stack != StackId::EMPTY => {
                    Outcome { waits_for: 1 << child, ..Outcome::default() }
                }
                _ => {
                    next_state.threads[slot].handles = acting.handles.with(thread, 0);
                    Outcome::to([next_state])
                }
            },
        }
    }

    fn take(&self, state: &State, lock: LockIndex, mode: LockMode, slot: usize) -> Taking {
        state.locks[lock].take(self.model.locks[lock].kind, slot, mode)
    }
}

fn operands(registers: [u8; 2], left: Term, right: Term) -> [u8; 2] {
    let value = |term, register: u8| if let Term::Number(number) = term { number } else { register };
    [value(left, registers[0]), value(right, registers[1])]
}
