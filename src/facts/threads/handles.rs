//! Which threads a join may be meant for: where the handles of new threads go.
//!
//! # Definition   A token is a site that creates threads: it stands for their handles. Tokens flow from where creations store them, through loads, stores,
//!                copies of memory, arguments, returned values and whatever computes values from values; the least solution, without regard to order.
//!                What goes to code that is not looked at has leaked, and may come back from any of it.
//! # Theorem      A value that is the handle of a thread has the token of its creation, or it is one that nobody can tell ([`ANY`]). For a handle
//!                is made by creations, and by a thread that asks for its own.
//! # Deviations   Functions are looked at once for all their callers. Whole objects stand for their parts where library functions move bytes.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::{FxHashMap, FxHashSet};

use super::super::call_graph::CallKind;
use super::super::points_to::{AbstractObjectId, Location, Offset};
use super::relevant::{Called, Input, is_outside};
use crate::models::{Effect, FunctionModel};
use crate::program::{FunctionId, Instruction, Operand, Operation, RegisterId, SiteId, TerminatorKind};

/// The creations whose handles a value may be; `None` stands for any.
type Tokens = BTreeSet<Option<SiteId>>;

/// What may be any thread's.
const ANY: Option<SiteId> = None;

/// Beyond so many rounds nothing is said to be known.
const MOST_ROUNDS: usize = 60;

/// By site of a join: the sites that create the threads it may be meant for. Where nothing is known there is no entry.
pub(super) fn joined(input: Input<'_>) -> BTreeMap<SiteId, BTreeSet<SiteId>> {
    let mut flow = Flow {
        input,
        registers: FxHashMap::default(),
        tainted: FxHashSet::default(),
        cells: BTreeMap::new(),
        returned: FxHashMap::default(),
        leaked: Tokens::new(),
        has_changed: true,
        joins: BTreeMap::new(),
    };
    let functions: Vec<FunctionId> = input.program.functions.keys().filter(|id| input.points_to.is_reachable(*id)).collect();
    let mut rounds = 0;
    while std::mem::take(&mut flow.has_changed) {
        rounds += 1;
        if rounds > MOST_ROUNDS {
            return BTreeMap::new();
        }
        functions.iter().for_each(|function| flow.function(*function));
    }
    let known = |tokens: &Tokens| tokens.iter().copied().collect::<Option<BTreeSet<SiteId>>>().filter(|sites| !sites.is_empty());
    flow.joins.iter().filter_map(|(site, tokens)| Some((*site, known(tokens)?))).collect()
}

struct Flow<'a> {
    input: Input<'a>,
    registers: FxHashMap<(FunctionId, RegisterId), Tokens>,
    /// Functions with a register that has a token.
    tainted: FxHashSet<FunctionId>,
    cells: BTreeMap<AbstractObjectId, BTreeMap<Location, Tokens>>,
    returned: FxHashMap<FunctionId, Tokens>,
    leaked: Tokens,
    has_changed: bool,
    joins: BTreeMap<SiteId, Tokens>,
}

impl Flow<'_> {
    fn function(&mut self, id: FunctionId) {
        let function = self.input.function(id);
        for block in &function.blocks {
            for phi in &block.phis {
                let tokens = self.all_of(id, &phi.operands);
                self.give(id, phi.result, &tokens);
            }
            for instruction in &block.instructions {
                self.instruction(id, instruction);
            }
            if let TerminatorKind::Return(Some(value)) = &block.terminator.kind {
                let tokens = self.of(id, *value);
                if !tokens.is_empty() {
                    self.has_changed |= extend(self.returned.entry(id).or_default(), &tokens);
                    // Somebody else than a caller may get it.
                    if self.input.calls.calls_of(id).iter().any(|edge| edge.kind != CallKind::Call) {
                        self.leak(&tokens);
                    }
                }
            }
        }
    }

    fn instruction(&mut self, id: FunctionId, instruction: &Instruction) {
        let result = instruction.result;
        match &instruction.operation {
            Operation::Load { address, .. } => {
                if let Some(result) = result
                    && !(self.cells.is_empty() && self.leaked.is_empty())
                {
                    let size = self.input.program.layout.store_bytes(self.input.function(id).registers[result].ty);
                    let tokens = self.loaded(id, *address, Some(size));
                    self.give(id, result, &tokens);
                }
            }
            Operation::MaskedLoad { address, otherwise, .. } => {
                let mut tokens = self.loaded(id, *address, None);
                tokens.extend(self.of(id, *otherwise));
                result.into_iter().for_each(|result| self.give(id, result, &tokens));
            }
            Operation::Store { address, value, .. } => self.store(id, *address, *value),
            Operation::MaskedStore { address, value, .. } => {
                let tokens = self.of(id, *value);
                self.put_anywhere(id, *address, &tokens);
            }
            Operation::ReadModifyWrite { address, value, .. } => {
                self.store(id, *address, *value);
                let tokens = self.loaded(id, *address, None);
                result.into_iter().for_each(|result| self.give(id, result, &tokens));
            }
            Operation::CompareExchange { address, replacement, .. } => {
                self.store(id, *address, *replacement);
                let tokens = self.loaded(id, *address, None);
                result.into_iter().for_each(|result| self.give(id, result, &tokens));
            }
            Operation::CopyMemory { destination, source, .. } => {
                let tokens = self.loaded(id, *source, None);
                self.put_anywhere(id, *destination, &tokens);
            }
            Operation::SetMemory { destination, byte, .. } => {
                let tokens = self.of(id, *byte);
                self.put_anywhere(id, *destination, &tokens);
            }
            Operation::Call { .. } => self.call(id, instruction),
            Operation::InlineAssembly { arguments, .. } => {
                let mut tokens = self.all_of(id, arguments);
                arguments.iter().for_each(|argument| tokens.extend(self.loaded(id, *argument, None)));
                self.leak(&tokens);
                arguments.iter().for_each(|argument| self.put_anywhere(id, *argument, &tokens));
                let tokens = self.leaked.clone();
                result.into_iter().for_each(|result| self.give(id, result, &tokens));
            }
            Operation::VariadicNext { .. } => {
                let tokens = self.leaked.clone();
                result.into_iter().for_each(|result| self.give(id, result, &tokens));
            }
            // A truth, not a handle.
            Operation::Compare { .. } => {}
            other => {
                // Whatever is computed from a handle may be that handle.
                if let Some(result) = result
                    && self.tainted.contains(&id)
                {
                    let operands: Vec<Operand> = other.clone().operands_mut().into_iter().map(|operand| *operand).collect();
                    let tokens = self.all_of(id, &operands);
                    self.give(id, result, &tokens);
                }
            }
        }
    }

    fn store(&mut self, id: FunctionId, address: Operand, value: Operand) {
        let tokens = self.of(id, value);
        if !tokens.is_empty() {
            let locations: Vec<Location> = self.input.points_to.pointees(id, address).collect();
            locations.into_iter().for_each(|location| self.put(location, &tokens));
        }
    }

    fn call(&mut self, id: FunctionId, instruction: &Instruction) {
        let Operation::Call { arguments, .. } = &instruction.operation else { return };
        for called in self.input.called(instruction) {
            match called {
                Called::Body(callee) => {
                    let parameters = &self.input.function(callee).parameters;
                    for (position, argument) in arguments.iter().enumerate() {
                        let is_copied = argument.by_value.is_some();
                        let tokens = if is_copied { self.loaded(id, argument.value, None) } else { self.of(id, argument.value) };
                        if tokens.is_empty() {
                            continue;
                        }
                        match parameters.get(position) {
                            Some(parameter) if is_copied => {
                                self.put_anywhere(callee, Operand::Register(parameter.register), &tokens);
                            }
                            Some(parameter) => self.give(callee, parameter.register, &tokens),
                            None => self.leak(&tokens),
                        }
                    }
                    if let (Some(result), Some(tokens)) = (instruction.result, self.returned.get(&callee).cloned()) {
                        self.give(id, result, &tokens);
                    }
                }
                Called::Library(model) => self.library(id, instruction, model),
                Called::Outside => {
                    let passed = self.passed(id, instruction);
                    self.leak(&passed);
                    self.come_back(id, instruction, &passed);
                }
            }
        }
    }

    fn library(&mut self, id: FunctionId, instruction: &Instruction, model: &FunctionModel) {
        for effect in &model.effects {
            match effect {
                Effect::Spawn { handle, .. } => {
                    let own = Tokens::from([Some(instruction.site)]);
                    match handle.and_then(|handle| Input::argument(instruction, handle)) {
                        Some(handle) => {
                            let locations: Vec<Location> = self.input.points_to.pointees(id, handle).collect();
                            locations.into_iter().for_each(|location| self.put(location, &own));
                        }
                        None => self.leak(&own),
                    }
                }
                Effect::CurrentThread => {
                    instruction.result.into_iter().for_each(|result| self.give(id, result, &Tokens::from([ANY])));
                }
                Effect::Join { handle, .. } => {
                    let tokens = match Input::argument(instruction, *handle) {
                        Some(handle) => self.of(id, handle),
                        None => Tokens::from([ANY]),
                    };
                    self.joins.insert(instruction.site, tokens);
                }
                _ => {}
            }
        }
        let moves = !model.effects.iter().all(moves_no_value) || model.builtin.is_some() || model.effects.is_empty();
        if moves {
            // Keys, exit values and the like: what one call takes another one may give.
            let passed = self.passed(id, instruction);
            self.leak(&passed);
            self.come_back(id, instruction, &passed);
        }
        let (calls, input) = (self.input.calls, self.input);
        let edges = calls.calls_in(id).iter().filter(|edge| edge.site == Some(instruction.site));
        for (callee, kind) in edges.map(|edge| (edge.callee, edge.kind)) {
            let tokens = match kind {
                CallKind::Call => continue,
                // A new thread gets its argument as it is.
                CallKind::Spawn => self.thread_argument(id, instruction, model),
                _ => {
                    let passed = self.passed(id, instruction);
                    self.leak(&passed);
                    self.leaked.clone()
                }
            };
            input.function(callee).parameters.iter().for_each(|parameter| self.give(callee, parameter.register, &tokens));
        }
    }

    fn thread_argument(&self, id: FunctionId, instruction: &Instruction, model: &FunctionModel) -> Tokens {
        let argument = model.effects.iter().find_map(|effect| match effect {
            Effect::Spawn { argument, .. } => *argument,
            _ => None,
        });
        let argument = argument.and_then(|position| Input::argument(instruction, position));
        argument.map_or_else(Tokens::new, |argument| self.of(id, argument))
    }

    /// What a call hands over: values, and what lies behind pointers.
    fn passed(&self, id: FunctionId, instruction: &Instruction) -> Tokens {
        let Operation::Call { arguments, .. } = &instruction.operation else { return Tokens::new() };
        let mut tokens = Tokens::new();
        for argument in arguments {
            tokens.extend(self.of(id, argument.value));
            for location in self.input.points_to.pointees(id, argument.value) {
                tokens.extend(self.cells.get(&location.object).into_iter().flat_map(BTreeMap::values).flatten());
            }
        }
        tokens
    }

    /// What a call that is not looked at may leave behind.
    fn come_back(&mut self, id: FunctionId, instruction: &Instruction, passed: &Tokens) {
        let Operation::Call { arguments, .. } = &instruction.operation else { return };
        let mut tokens = self.leaked.clone();
        tokens.extend(passed);
        if tokens.is_empty() {
            return;
        }
        let results = instruction.result.map(Operand::Register);
        for operand in arguments.iter().map(|argument| argument.value).chain(results) {
            self.put_anywhere(id, operand, &tokens);
        }
        instruction.result.into_iter().for_each(|result| self.give(id, result, &tokens));
    }

    fn of(&self, id: FunctionId, operand: Operand) -> Tokens {
        match operand {
            Operand::Register(register) => self.registers.get(&(id, register)).cloned().unwrap_or_default(),
            Operand::Constant(_) => Tokens::new(),
        }
    }

    fn all_of(&self, id: FunctionId, operands: &[Operand]) -> Tokens {
        operands.iter().flat_map(|operand| self.of(id, *operand)).collect()
    }

    /// What may be read behind a pointer; without a size anywhere in its objects.
    fn loaded(&self, id: FunctionId, address: Operand, size: Option<u64>) -> Tokens {
        let mut tokens = Tokens::new();
        if self.cells.is_empty() && self.leaked.is_empty() {
            return tokens;
        }
        let handle_size = self.handle_size();
        for location in self.input.points_to.pointees(id, address) {
            for (cell, kept) in self.cells.get(&location.object).into_iter().flatten() {
                if size.is_none_or(|size| self.input.points_to.may_alias(location, size, *cell, handle_size)) {
                    tokens.extend(kept);
                }
            }
            if is_outside(self.input, location) {
                tokens.extend(&self.leaked);
            }
        }
        tokens
    }

    fn handle_size(&self) -> u64 {
        u64::from(self.input.program.layout.pointer_bytes)
    }

    fn give(&mut self, id: FunctionId, register: RegisterId, tokens: &Tokens) {
        if !tokens.is_empty() && extend(self.registers.entry((id, register)).or_default(), tokens) {
            self.tainted.insert(id);
            self.has_changed = true;
        }
    }

    fn put(&mut self, location: Location, tokens: &Tokens) {
        if tokens.is_empty() {
            return;
        }
        let cell = self.cells.entry(location.object).or_default().entry(location).or_default();
        self.has_changed |= extend(cell, tokens);
        if is_outside(self.input, location) {
            self.leak(tokens);
        }
    }

    /// Somewhere in the objects that a pointer may point to.
    fn put_anywhere(&mut self, id: FunctionId, address: Operand, tokens: &Tokens) {
        if tokens.is_empty() {
            return;
        }
        let objects: BTreeSet<AbstractObjectId> =
            self.input.points_to.pointees(id, address).map(|location| location.object).collect();
        objects.into_iter().for_each(|object| self.put(Location { object, offset: Offset::Any }, tokens));
    }

    fn leak(&mut self, tokens: &Tokens) {
        self.has_changed |= extend(&mut self.leaked, tokens);
    }
}

fn extend(known: &mut Tokens, more: &Tokens) -> bool {
    let before = known.len();
    known.extend(more);
    known.len() > before
}

/// Whether an effect moves no value that the program can get at again.
fn moves_no_value(effect: &Effect) -> bool {
    matches!(
        effect,
        Effect::Acquire { .. }
            | Effect::Release { .. }
            | Effect::InitializeLock { .. }
            | Effect::DestroyLock { .. }
            | Effect::InitializeAttribute { .. }
            | Effect::SetAttribute { .. }
            | Effect::Spawn { .. }
            | Effect::Join { value: None, .. }
            | Effect::Detach { .. }
            | Effect::Cancel { .. }
            | Effect::CurrentThread
            | Effect::EqualThreads { .. }
            | Effect::Yield
            | Effect::Sleep
            | Effect::InitializeCondition { .. }
            | Effect::DestroyCondition { .. }
            | Effect::Wait { .. }
            | Effect::Signal { .. }
            | Effect::InitializeBarrier { .. }
            | Effect::WaitBarrier { .. }
            | Effect::DestroyBarrier { .. }
            | Effect::InitializeSemaphore { .. }
            | Effect::WaitSemaphore { .. }
            | Effect::PostSemaphore { .. }
            | Effect::DestroySemaphore { .. }
            | Effect::BeginAtomic
            | Effect::EndAtomic
            | Effect::Fence { .. }
            | Effect::Allocate { .. }
            | Effect::Free { .. }
            | Effect::Reads(_)
            | Effect::Assume { .. }
            | Effect::Assert { .. }
            | Effect::Fail
            | Effect::Exit { .. }
    )
}
