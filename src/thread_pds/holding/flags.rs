//! Flags: atomic variables whose value says that something has happened before.
//!
//! # Definition   A flag is a global atomic variable that is 0 at the start, and is written only by atomic instructions of its own size: stores of the
//!                constant 0, and others that release. A load that acquires and does not get 0 *sees* the flag.
//! # Theorem      What is seen was written by one of those others, which the load synchronises with. So a flag that one thread alone sets is a semaphore
//!                without permits: setting it is a post, seeing it a wait that may fail (`permits`).
//! # Memory model Release and acquire on one location: no second location has a part in the argument, so it holds whatever the order of others.
//! # Deviations   1. Fences, and sequences that go on by relaxed updates, are not followed.  2. A variable that library functions update is no flag.

use rustc_hash::FxHashSet;

use super::action::{Action, ResultFact};
use crate::facts::accesses::Action as Touch;
use crate::facts::{AbstractObjectKind, Facts, Location, Manner, MemoryAccess, Offset};
use crate::models::Attempt;
use crate::program::{Access, BlockId, Constant, FunctionId, Instruction, Operand, Operation, Program, Scope};

/// More flags are not followed.
const MOST_FLAGS: usize = 16;

#[derive(Default)]
pub(super) struct Flags {
    all: FxHashSet<Location>,
}

impl Flags {
    pub fn of(program: &Program, facts: &Facts<'_>) -> Flags {
        let mut candidates: Vec<(Location, u64)> = Vec::new();
        each(program, facts, |function, instruction, accesses| {
            if let Some((address, _)) = written(&instruction.operation)
                && let Some(location) = exact(facts, function, address)
                && let [access] = accesses
                && let Some(size) = access.size.filter(|size| is_zero_at_start(program, facts, location, *size))
                && !candidates.contains(&(location, size))
            {
                candidates.push((location, size));
            }
        });
        if candidates.is_empty() || candidates.len() > MOST_FLAGS {
            return Flags::default();
        }
        each(program, facts, |function, instruction, accesses| {
            for access in accesses.iter().filter(|access| access.action.writes() && access.action != Touch::End) {
                let locations = access.locations(&facts.points_to, &facts.call_graph, &program.layout, function);
                let size = access.size.unwrap_or(u64::MAX);
                candidates.retain(|(flag, bytes)| {
                    let meets = |location: &Location| facts.points_to.may_alias(*location, size, *flag, *bytes);
                    let is_as_it_should = || {
                        locations[..] == [*flag] && access.size == Some(*bytes) && keeps_the_rules(program, instruction, access)
                    };
                    !locations.iter().any(meets) || is_as_it_should()
                });
            }
        });
        Flags { all: candidates.into_iter().map(|(flag, _)| flag).collect() }
    }

    /// What an instruction does with a flag.
    pub fn action(
        &self,
        program: &Program,
        facts: &Facts<'_>,
        function: FunctionId,
        instruction: &Instruction,
    ) -> Option<Action> {
        if self.all.is_empty() {
            return None;
        }
        let is_flag = |address: Operand| exact(facts, function, address).is_some_and(|location| self.all.contains(&location));
        if let Operation::Load { address, access } = &instruction.operation {
            let sees = access.scope == Scope::System && access.ordering.is_some_and(|ordering| ordering.acquires());
            let (worked, failed) = (ResultFact::NotEqual(0), ResultFact::Equal(0));
            return (sees && is_flag(*address)).then_some(Action::WaitForPermit {
                semaphore: *address,
                attempt: Attempt::Try,
                worked,
                failed,
            });
        }
        let (address, _) = written(&instruction.operation).filter(|_| !stores_zero(program, &instruction.operation))?;
        is_flag(address).then_some(Action::PostPermit { semaphore: address, is_flag: true })
    }
}

/// Every instruction that may be executed, with its accesses.
fn each(program: &Program, facts: &Facts<'_>, mut look: impl FnMut(FunctionId, &Instruction, &[MemoryAccess])) {
    for (id, function) in program.functions.iter_enumerated().filter(|(id, _)| facts.points_to.is_reachable(*id)) {
        for (block, content) in function.blocks.iter_enumerated() {
            let block: BlockId = block;
            for (index, instruction) in content.instructions.iter().enumerate() {
                look(id, instruction, facts.accesses.at(id, block, index));
            }
        }
    }
}

/// The address that an atomic instruction writes to.
fn written(operation: &Operation) -> Option<(Operand, &Access)> {
    let (address, access) = match operation {
        Operation::Store { address, access, .. }
        | Operation::ReadModifyWrite { address, access, .. }
        | Operation::CompareExchange { address, access, .. } => (*address, access),
        _ => return None,
    };
    (access.ordering.is_some() && access.scope == Scope::System).then_some((address, access))
}

fn stores_zero(program: &Program, operation: &Operation) -> bool {
    match operation {
        Operation::Store { value: Operand::Constant(constant), .. } => {
            matches!(program.constants[*constant], Constant::Integer { value: 0, .. } | Constant::Null)
        }
        _ => false,
    }
}

/// Whether a write of a flag's own bytes is one of those that flags have.
fn keeps_the_rules(program: &Program, instruction: &Instruction, access: &MemoryAccess) -> bool {
    let is_atomic = matches!(access.manner, Manner::Atomic(_));
    let releases = written(&instruction.operation).and_then(|(_, access)| access.ordering).is_some_and(|order| order.releases());
    is_atomic && (releases || stores_zero(program, &instruction.operation))
}

/// The one place in a global that an address is.
fn exact(facts: &Facts<'_>, function: FunctionId, address: Operand) -> Option<Location> {
    let mut pointees = facts.points_to.pointees(function, address);
    let (Some(location), None) = (pointees.next(), pointees.next()) else { return None };
    let is_global = matches!(facts.points_to.object(location.object).kind, AbstractObjectKind::Global(_));
    (is_global && matches!(location.offset, Offset::At(_))).then_some(location)
}

fn is_zero_at_start(program: &Program, facts: &Facts<'_>, location: Location, size: u64) -> bool {
    let (AbstractObjectKind::Global(global), Offset::At(at)) = (&facts.points_to.object(location.object).kind, location.offset)
    else {
        return false;
    };
    let global = &program.globals[*global];
    let bytes = global.bytes.iter().skip(at as usize).take(size as usize);
    let has_address = global.relocations.iter().any(|one| one.offset + 16 > at && one.offset < at + size);
    !global.is_external && !global.is_thread_local && !has_address && bytes.copied().all(|byte| byte == 0)
}
