//! The steps of a procedure as instructions.

use super::function::FunctionBuilder;
use super::{HANDLE_BITS, Lowering, joins};
use crate::program::{
    ArithmeticFlags, BinaryOp, BlockId, CastKind, GlobalId, IntegerPredicate, Operand, Operation, Predicate, TerminatorKind, Type,
};
use crate::thread_model::{
    Comparison, Condition, Expression, LockIndex, LockKind, LockMode, ProcedureIndex, StepKind, Term, ThreadIndex, VariableIndex,
};

const INT: Type = Type::integer(32);
const BYTE: u32 = 8;

impl Lowering<'_> {
    pub(super) fn lower_procedure(&mut self, index: ProcedureIndex) {
        let model = self.model;
        let procedure = &model.procedures[index];
        let is_entry = self.is_entry(index);
        let function = self.procedures[index];
        let mut builder = FunctionBuilder::new(self, function);
        let count = procedure.steps.len();
        // The entry block has no predecessor, whatever jumps to the first step.
        let blocks: Vec<Option<BlockId>> =
            (0..=count).map(|at| begins_block(&procedure.steps, at).then(|| builder.new_block())).collect();
        let block = |at: usize| blocks[at].expect("a target begins a block");
        let mut sites = Vec::new();
        for (at, start) in blocks.iter().enumerate() {
            let position = procedure.steps.get(at).map_or(procedure.end, |step| step.position);
            let site = builder.new_site(position);
            sites.push(site);
            if at == 0 {
                builder.end(TerminatorKind::Jump(block(0)));
            } else if let Some(next) = *start
                && !builder.is_ended()
            {
                builder.end(TerminatorKind::Jump(next));
            }
            if let Some(next) = *start {
                builder.go_to(next);
            }
            match procedure.steps.get(at).map(|step| &step.kind) {
                None | Some(StepKind::Return) => {
                    let value = is_entry.then(|| builder.null());
                    builder.end(TerminatorKind::Return(value));
                }
                Some(StepKind::Goto { targets }) => {
                    let targets: Vec<BlockId> = targets.iter().map(|target| block(*target)).collect();
                    lower_choice(&mut builder, &targets);
                }
                Some(StepKind::Try { lock, mode, then, otherwise }) => {
                    let (then, otherwise) = (then.unwrap_or(at + 1), otherwise.unwrap_or(at + 1));
                    let taken = lower_lock(&mut builder, *lock, *mode, true);
                    let zero = builder.constant(32, 0);
                    let condition = compare(&mut builder, IntegerPredicate::Equal, taken, zero);
                    builder.end(TerminatorKind::Branch { condition, when_true: block(then), when_false: block(otherwise) });
                }
                Some(StepKind::Join { thread }) => {
                    let is_certain = joins::is_certain(model, procedure.thread, *thread);
                    lower_join(&mut builder, procedure.thread, *thread, (!is_certain).then(|| block(at + 1)));
                }
                Some(step) => lower_step(&mut builder, procedure.thread, step),
            }
        }
        builder.finish();
        self.sites.push(sites);
    }
}

/// Whether something may jump to the step, or the step before ends its block.
fn begins_block(steps: &[crate::thread_model::Step], at: usize) -> bool {
    let jumps_here = |kind: &StepKind| match kind {
        StepKind::Goto { targets } => targets.contains(&at),
        StepKind::Try { then, otherwise, .. } => *then == Some(at) || *otherwise == Some(at),
        _ => false,
    };
    let ends_before =
        |kind: &StepKind| matches!(kind, StepKind::Goto { .. } | StepKind::Try { .. } | StepKind::Join { .. } | StepKind::Return);
    at == 0 || ends_before(&steps[at - 1].kind) || steps.iter().any(|step| jumps_here(&step.kind))
}

fn lower_step(builder: &mut FunctionBuilder<'_, '_>, thread: Option<ThreadIndex>, step: &StepKind) {
    match step {
        StepKind::Acquire { lock, mode } => {
            lower_lock(builder, *lock, *mode, false);
        }
        StepKind::Release { lock } => {
            let name = match builder.lowering.model.locks[*lock].kind {
                LockKind::Mutex | LockKind::Recursive => "pthread_mutex_unlock",
                LockKind::ReadWrite => "pthread_rwlock_unlock",
            };
            let address = lock_address(builder, *lock);
            builder.call_library(name, &[address], INT);
        }
        StepKind::Call { procedure } => {
            let arguments = if builder.lowering.is_entry(*procedure) { vec![builder.null()] } else { Vec::new() };
            let callee = builder.lowering.procedures[*procedure];
            builder.call(callee, &arguments);
        }
        StepKind::Read { variable } => {
            load_variable(builder, *variable);
        }
        StepKind::Write { variable } => {
            let value = builder.constant(BYTE, 1);
            store_variable(builder, *variable, value);
        }
        StepKind::Begin { .. } | StepKind::End { .. } | StepKind::Skip => {
            let value = builder.constant(BYTE, 0);
            builder.emit(Operation::Freeze { value }, Type::integer(BYTE));
        }
        StepKind::Spawn { thread: spawned } => {
            let handle = builder.lowering.handle(thread, *spawned);
            let entry = builder.lowering.threads[*spawned];
            let handle = builder.address(handle);
            lower_creation(builder, handle, entry);
        }
        StepKind::Assume { condition } => lower_assume(builder, condition),
        StepKind::Assign { variable, expression: Expression { left, right, is_difference } } => {
            let (left, right) = (term(builder, *left), term(builder, *right));
            let op = if *is_difference { BinaryOp::Subtract } else { BinaryOp::Add };
            let value =
                builder.value(Operation::Binary { op, flags: ArithmeticFlags::default(), left, right }, Type::integer(BYTE));
            store_variable(builder, *variable, value);
        }
        StepKind::Goto { .. } | StepKind::Try { .. } | StepKind::Join { .. } | StepKind::Return => {
            unreachable!("ends a block: {step:?}")
        }
    }
}

/// `pthread_create` of a thread.
pub(super) fn lower_creation(builder: &mut FunctionBuilder<'_, '_>, handle: Operand, entry: crate::program::FunctionId) {
    let null = builder.null();
    let entry = builder.lowering.constant(crate::program::Constant::Function(entry));
    builder.call_library("pthread_create", &[handle, null, entry, null], INT);
}

fn lock_address(builder: &mut FunctionBuilder<'_, '_>, lock: LockIndex) -> Operand {
    let global: GlobalId = builder.lowering.locks[lock];
    builder.address(global)
}

/// Takes or tries to take a lock; the library's answer.
pub(super) fn lower_lock(builder: &mut FunctionBuilder<'_, '_>, lock: LockIndex, mode: LockMode, is_attempt: bool) -> Operand {
    let name = match (builder.lowering.model.locks[lock].kind, mode, is_attempt) {
        (LockKind::Mutex | LockKind::Recursive, _, false) => "pthread_mutex_lock",
        (LockKind::Mutex | LockKind::Recursive, _, true) => "pthread_mutex_trylock",
        (LockKind::ReadWrite, LockMode::Exclusive, false) => "pthread_rwlock_wrlock",
        (LockKind::ReadWrite, LockMode::Exclusive, true) => "pthread_rwlock_trywrlock",
        (LockKind::ReadWrite, LockMode::Shared, false) => "pthread_rwlock_rdlock",
        (LockKind::ReadWrite, LockMode::Shared, true) => "pthread_rwlock_tryrdlock",
    };
    let address = lock_address(builder, lock);
    builder.call_library(name, &[address], INT).expect("it returns an int")
}

/// One of the targets, by one choice of two after another.
fn lower_choice(builder: &mut FunctionBuilder<'_, '_>, targets: &[BlockId]) {
    match targets {
        [] => unreachable!("a goto has a target"),
        [target] => builder.end(TerminatorKind::Jump(*target)),
        [target, others @ ..] => {
            let condition = builder.call_library("__VERIFIER_nondet_bool", &[], Type::BOOL).expect("it returns a bit");
            let rest = if let [only] = others { *only } else { builder.new_block() };
            builder.end(TerminatorKind::Branch { condition, when_true: *target, when_false: rest });
            if others.len() > 1 {
                builder.go_to(rest);
                lower_choice(builder, others);
            }
        }
    }
}

/// `pthread_join`, and with `next` only if there is something to join.
fn lower_join(builder: &mut FunctionBuilder<'_, '_>, joiner: Option<ThreadIndex>, joined: ThreadIndex, next: Option<BlockId>) {
    let handle = builder.lowering.handle(joiner, joined);
    let address = builder.address(handle);
    let number = builder.load(address, HANDLE_BITS, false);
    if let Some(next) = next {
        let zero = builder.constant(HANDLE_BITS, 0);
        let condition = compare(builder, IntegerPredicate::Equal, number, zero);
        let join = builder.new_block();
        builder.end(TerminatorKind::Branch { condition, when_true: next, when_false: join });
        builder.go_to(join);
    }
    let null = builder.null();
    builder.call_library("pthread_join", &[number, null], INT);
    if next.is_some() {
        let zero = builder.constant(HANDLE_BITS, 0);
        builder.store(address, zero, HANDLE_BITS, false);
    }
}

fn compare(builder: &mut FunctionBuilder<'_, '_>, predicate: IntegerPredicate, left: Operand, right: Operand) -> Operand {
    builder.value(Operation::Compare { predicate: Predicate::Integer(predicate), left, right }, Type::BOOL)
}

fn lower_assume(builder: &mut FunctionBuilder<'_, '_>, condition: &Condition) {
    let (left, right) = (term(builder, condition.left), term(builder, condition.right));
    let predicate = match condition.comparison {
        Comparison::Equal => IntegerPredicate::Equal,
        Comparison::NotEqual => IntegerPredicate::NotEqual,
        Comparison::Less => IntegerPredicate::UnsignedLess,
        Comparison::LessEqual => IntegerPredicate::UnsignedLessEqual,
        Comparison::Greater => IntegerPredicate::UnsignedGreater,
        Comparison::GreaterEqual => IntegerPredicate::UnsignedGreaterEqual,
    };
    let holds = compare(builder, predicate, left, right);
    let number = builder.value(Operation::Cast { kind: CastKind::ZeroExtend, value: holds }, INT);
    builder.call_library("__VERIFIER_assume", &[number], Type::Void);
}

fn term(builder: &mut FunctionBuilder<'_, '_>, term: Term) -> Operand {
    match term {
        Term::Number(number) => builder.constant(BYTE, u128::from(number)),
        Term::Variable(variable) => load_variable(builder, variable),
    }
}

fn load_variable(builder: &mut FunctionBuilder<'_, '_>, variable: VariableIndex) -> Operand {
    let is_atomic = builder.lowering.model.variables[variable].is_atomic;
    let address = builder.address(builder.lowering.variables[variable]);
    builder.load(address, BYTE, is_atomic)
}

fn store_variable(builder: &mut FunctionBuilder<'_, '_>, variable: VariableIndex, value: Operand) {
    let is_atomic = builder.lowering.model.variables[variable].is_atomic;
    let address = builder.address(builder.lowering.variables[variable]);
    builder.store(address, value, BYTE, is_atomic);
}
