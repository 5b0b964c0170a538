//! What a library call does to locksets: the effects of its model, as far as they matter here.

use crate::facts::{CallGraph, CallKind};
use crate::locks::Mode;
use crate::models::{Attempt, CallbackTime, Effect, FunctionModel, LockClass, LockMode, ResultConvention};
use crate::program::{Argument, Constant, FunctionId, Operand, Program, SiteId};

/// A step of a library call. Locks are operands of the caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    Acquire {
        lock: Operand,
        mode: Mode,
        attempt: Attempt,
        convention: ResultConvention,
        is_read_write: bool,
    },
    Release {
        lock: Operand,
        is_read_write: bool,
    },
    /// The lock is new, or gone: nobody holds it.
    Forget {
        lock: Operand,
    },
    /// Released and taken again.
    Wait {
        lock: Operand,
    },
    BeginAtomic,
    EndAtomic,
    /// Calls a routine in the first thread that comes, and waits for its end.
    Once {
        control: Operand,
        routines: Vec<FunctionId>,
    },
    /// Calls the routines any number of times.
    Callback {
        routines: Vec<FunctionId>,
    },
    /// Returns 0 now, and something else after any amount of further work.
    SaveJump,
    /// Goes back to where `SaveJump` returned.
    Jump,
    /// Calls a routine of which it is not known which one.
    RunUnknown,
    /// Waits for a permit of a semaphore, or sees a flag.
    WaitForPermit {
        semaphore: Operand,
        attempt: Attempt,
        worked: ResultFact,
        failed: ResultFact,
    },
    PostPermit {
        semaphore: Operand,
        is_flag: bool,
    },
    /// A semaphore is initialised, with so many permits if that is known.
    ResetPermits {
        semaphore: Operand,
        permits: Option<u64>,
    },
    /// Other threads begin here, and get this.
    Create {
        argument: Option<Operand>,
    },
    /// Waits for the end of another thread.
    Join,
    /// Does not return.
    End {
        /// The thread ends, and the others go on.
        leaves_others: bool,
    },
}

impl Action {
    /// Whether what is held may be another set afterwards.
    pub fn changes_locksets(&self) -> bool {
        match self {
            Action::Acquire { .. }
            | Action::Release { .. }
            | Action::Forget { .. }
            | Action::Wait { .. }
            | Action::BeginAtomic
            | Action::EndAtomic
            | Action::Once { .. }
            | Action::SaveJump
            | Action::Jump
            | Action::RunUnknown
            | Action::WaitForPermit { .. }
            | Action::PostPermit { .. }
            | Action::ResetPermits { .. }
            | Action::End { .. } => true,
            Action::Callback { .. } | Action::Create { .. } | Action::Join => false,
        }
    }
}

/// How a result tells success from failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultFact {
    Equal(i64),
    NotEqual(i64),
    Nothing,
}

/// What the result is when the call has worked, and when it has not.
pub fn result_facts(convention: ResultConvention) -> (ResultFact, ResultFact) {
    use ResultFact::{Equal, NotEqual, Nothing};
    match convention {
        ResultConvention::ZeroIsSuccess | ResultConvention::ThreadStatus => (Equal(0), NotEqual(0)),
        ResultConvention::NonzeroIsSuccess => (NotEqual(0), Equal(0)),
        ResultConvention::ValueIsSuccess(value) => (Equal(value), NotEqual(value)),
        ResultConvention::MinusOneIsFailure => (NotEqual(-1), Equal(-1)),
        ResultConvention::Always => (Nothing, Nothing),
    }
}

/// The call whose effects are asked for.
pub struct LibraryCall<'a> {
    pub program: &'a Program,
    pub calls: &'a CallGraph,
    pub caller: FunctionId,
    pub site: SiteId,
    pub arguments: &'a [Argument],
}

impl LibraryCall<'_> {
    pub fn actions(&self, model: &FunctionModel) -> Vec<Action> {
        model.effects.iter().filter_map(|effect| self.action(effect)).collect()
    }

    fn argument(&self, index: usize) -> Option<Operand> {
        self.arguments.get(index).map(|argument| argument.value)
    }

    fn number(&self, index: usize) -> Option<u64> {
        match self.argument(index)? {
            Operand::Constant(constant) => match self.program.constants[constant] {
                Constant::Integer { value, .. } => u64::try_from(value).ok(),
                _ => None,
            },
            Operand::Register(_) => None,
        }
    }

    fn is_zero(&self, index: usize) -> bool {
        match self.argument(index) {
            Some(Operand::Constant(constant)) => {
                matches!(self.program.constants[constant], Constant::Integer { value: 0, .. } | Constant::Null)
            }
            _ => false,
        }
    }

    /// The functions that this site calls back, in this way.
    fn routines(&self, kind: CallKind) -> Vec<FunctionId> {
        let edges = self.calls.calls_in(self.caller).iter();
        let mut routines: Vec<FunctionId> =
            edges.filter(|edge| edge.site == Some(self.site) && edge.kind == kind).map(|edge| edge.callee).collect();
        routines.sort_unstable();
        routines.dedup();
        routines
    }

    fn action(&self, effect: &Effect) -> Option<Action> {
        Some(match effect {
            Effect::Acquire { lock, class, mode, attempt, result } => Action::Acquire {
                lock: self.argument(*lock)?,
                mode: match mode {
                    LockMode::Exclusive => Mode::Exclusive,
                    LockMode::Shared => Mode::Shared,
                },
                attempt: *attempt,
                convention: *result,
                is_read_write: *class == LockClass::ReadWrite,
            },
            Effect::Release { lock, class } => {
                Action::Release { lock: self.argument(*lock)?, is_read_write: *class == LockClass::ReadWrite }
            }
            Effect::InitializeLock { lock, .. } | Effect::DestroyLock { lock, .. } => {
                Action::Forget { lock: self.argument(*lock)? }
            }
            Effect::Wait { lock, .. } => Action::Wait { lock: self.argument(*lock)? },
            Effect::BeginAtomic => Action::BeginAtomic,
            Effect::EndAtomic => Action::EndAtomic,
            Effect::Once { control, .. } => {
                Action::Once { control: self.argument(*control)?, routines: self.routines(CallKind::Once) }
            }
            Effect::Callback { when: CallbackTime::During, .. } | Effect::Dispatch => {
                Action::Callback { routines: self.routines(CallKind::Callback) }
            }
            Effect::SaveJump { .. } => Action::SaveJump,
            Effect::PopCleanup { execute } if !self.is_zero(*execute) => Action::RunUnknown,
            Effect::Spawn { argument, .. } => Action::Create { argument: argument.and_then(|index| self.argument(index)) },
            Effect::Join { attempt: Attempt::Blocking, .. } => Action::Join,
            Effect::ExitThread { .. } | Effect::ContinueExit => Action::End { leaves_others: true },
            Effect::Jump { .. } => Action::Jump,
            Effect::Fail | Effect::Exit { .. } => Action::End { leaves_others: false },
            // The body is the section: see the skeleton.
            Effect::AtomicBody => return None,
            // These run at another time, as roots of their own.
            Effect::Callback { when: CallbackTime::AtExit | CallbackTime::Dispatched, .. }
            | Effect::PushCleanup { .. }
            | Effect::InstallHandler { .. } => {
                return None;
            }
            Effect::PopCleanup { .. } | Effect::PushCleanupJump { .. } | Effect::PopCleanupJump { .. } => return None,
            // The order that these give is a fact about threads.
            Effect::Join { .. } | Effect::Detach { .. } | Effect::Cancel { .. } => return None,
            // A thread that ends here does not come further.
            Effect::SetCancelState { .. } | Effect::SetCancelType { .. } | Effect::CancellationPoint => return None,
            Effect::InitializeSemaphore { semaphore, value } => {
                Action::ResetPermits { semaphore: self.argument(*semaphore)?, permits: self.number(*value) }
            }
            Effect::WaitSemaphore { semaphore, attempt } => {
                let (worked, failed) = (ResultFact::Equal(0), ResultFact::NotEqual(0));
                Action::WaitForPermit { semaphore: self.argument(*semaphore)?, attempt: *attempt, worked, failed }
            }
            Effect::PostSemaphore { semaphore } => Action::PostPermit { semaphore: self.argument(*semaphore)?, is_flag: false },
            // These never protect: a look at the permits, and a signal, order nothing.
            Effect::ReadSemaphore { .. }
            | Effect::DestroySemaphore { .. }
            | Effect::Signal { .. }
            | Effect::InitializeCondition { .. }
            | Effect::DestroyCondition { .. }
            | Effect::InitializeBarrier { .. }
            | Effect::WaitBarrier { .. }
            | Effect::DestroyBarrier { .. } => return None,
            // Memory: the business of accesses.
            Effect::Fence { .. }
            | Effect::Atomic(_)
            | Effect::Allocate { .. }
            | Effect::Reallocate { .. }
            | Effect::Free { .. }
            | Effect::Reads(_)
            | Effect::Writes(_)
            | Effect::ChooseBytes(_)
            | Effect::SetAttribute { .. }
            | Effect::GetAttribute { .. }
            | Effect::InitializeAttribute { .. } => return None,
            // Values alone. An assumption that fails ends the run: to go on is the larger set.
            Effect::CurrentThread
            | Effect::EqualThreads { .. }
            | Effect::Yield
            | Effect::Sleep
            | Effect::CreateKey { .. }
            | Effect::DeleteKey { .. }
            | Effect::SetSpecific { .. }
            | Effect::GetSpecific { .. }
            | Effect::Choose
            | Effect::Assume { .. }
            | Effect::Assert { .. }
            | Effect::Unmodelled { .. }
            | Effect::NotComputed
            | Effect::ReturnsOwnMemory
            | Effect::HiddenState { .. }
            | Effect::Returns { .. }
            | Effect::ReturnsOneOf { .. }
            | Effect::ReturnsByLength { .. } => return None,
        })
    }
}
