//! Roots: the registers of a function that hold addresses of objects which may be fresh, and what is derived from them.
//!
//! A register is derived from roots when it is computed from them by offsets, casts, choices and phis. A phi may keep the address of an
//! earlier execution, so it counts only for roots that are executed once in an activation; a root that is used otherwise was
//! not executed again since (see the theorem of `values`). A register that may hold addresses of several objects has a root for each.

use smallvec::SmallVec;

use super::publication::{Scan, is_made};
use crate::facts::points_to::AbstractObjectId;
use crate::facts::values::reverse_postorder;
use crate::models::{AllocationResult, Effect};
use crate::program::{BlockId, CastKind, Constant, Function, FunctionId, Instruction, Operand, Operation, RegisterId, Type};

/// More objects than this behind a root are not followed.
const MOST_OBJECTS: usize = 16;
/// More roots than this behind a register likewise.
const MOST_ROOTS: usize = 32;

/// What makes a root fresh when it is executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// It is new.
    Made,
    /// If every call gives a fresh address for the parameter with this number.
    Parameter(usize),
    /// If all these functions return what they have made.
    Returned(SmallVec<[FunctionId; 1]>),
}

#[derive(Clone, Debug)]
pub(super) struct Root {
    pub register: RegisterId,
    pub origin: Origin,
    pub object: AbstractObjectId,
    /// More than once in an activation.
    pub is_repeated: bool,
}

/// Numbers of roots, ascending; `None`: something else may be behind the register.
pub(super) type Derived = Option<SmallVec<[u32; 2]>>;

pub(super) struct Roots {
    pub all: Vec<Root>,
    /// By register; of operands that are not addresses `None`.
    derived: Vec<Derived>,
}

impl Roots {
    pub fn of(scan: &Scan<'_>, id: FunctionId) -> Roots {
        let function = &scan.program.functions[id];
        let mut roots = Roots { all: Vec::new(), derived: vec![None; function.registers.len()] };
        for (number, parameter) in function.parameters.iter().enumerate() {
            let origin = if parameter.by_value.is_some() { Origin::Made } else { Origin::Parameter(number) };
            roots.add(scan, id, parameter.register, origin, false);
        }
        let order = reverse_postorder(function);
        let is_repeated = repeated_blocks(function);
        for &block in &order {
            for instruction in &function.blocks[block].instructions {
                if let (Some(result), Some(origin)) = (instruction.result, origin(scan, instruction)) {
                    roots.add(scan, id, result, origin, is_repeated[usize::from(block)]);
                }
            }
        }
        if !roots.all.is_empty() {
            roots.derive(scan, function, &order);
        }
        roots
    }

    fn add(&mut self, scan: &Scan<'_>, id: FunctionId, register: RegisterId, origin: Origin, is_repeated: bool) {
        if scan.program.functions[id].registers[register].ty != Type::POINTER {
            return;
        }
        let mut objects: SmallVec<[AbstractObjectId; 2]> = SmallVec::new();
        for location in scan.points_to.pointees(id, Operand::Register(register)) {
            let is_code = scan.points_to.object(location.object).is_code();
            if !is_made(scan.points_to, location.object) && !is_code || objects.len() > MOST_OBJECTS {
                return;
            }
            if !is_code && !objects.contains(&location.object) {
                objects.push(location.object);
            }
        }
        let first = self.all.len() as u32;
        let root = |object| Root { register, origin: origin.clone(), object, is_repeated };
        self.all.extend(objects.into_iter().map(root));
        // Nothing lies behind an address without objects.
        self.derived[usize::from(register)] = Some((first..self.all.len() as u32).collect());
    }

    /// Rounds over all definitions until nothing changes: phis stand before what they depend on. Phis of one loop start without each other.
    fn derive(&mut self, scan: &Scan<'_>, function: &Function, order: &[BlockId]) {
        let is_root: Vec<bool> = self.derived.iter().map(Option::is_some).collect();
        // Not looked at yet.
        let mut is_open = vec![true; function.registers.len()];
        function.parameters.iter().for_each(|parameter| is_open[usize::from(parameter.register)] = false);
        let mut has_changed = true;
        while has_changed {
            has_changed = false;
            for &block in order {
                let block = &function.blocks[block];
                let phis = block.phis.iter().map(|phi| (phi.result, None));
                let instructions = block.instructions.iter().filter_map(|one| Some((one.result?, Some(one))));
                for ((result, instruction), phi) in
                    phis.chain(instructions).zip(block.phis.iter().map(Some).chain(std::iter::repeat(None)))
                {
                    let register = usize::from(result);
                    if is_root[register] {
                        is_open[register] = false;
                        continue;
                    }
                    let new = match (instruction, phi) {
                        (None, Some(phi)) => self.merged(scan, &is_open, phi.operands.iter().copied(), true),
                        (Some(instruction), _) => self.of_instruction(scan, &is_open, instruction),
                        (None, None) => unreachable!("it is a phi or an instruction"),
                    };
                    // Only phis are looked at before their operands; an answer never gets better.
                    if is_open[register] || new != self.derived[register] {
                        has_changed |= !is_open[register] || phi.is_some();
                        is_open[register] = false;
                        self.derived[register] = new;
                    }
                }
            }
        }
    }

    fn of_instruction(&self, scan: &Scan<'_>, is_open: &[bool], instruction: &Instruction) -> Derived {
        match &instruction.operation {
            Operation::Offset { base, .. } => self.merged(scan, is_open, [*base].into_iter(), false),
            Operation::Freeze { value } | Operation::Cast { kind: CastKind::Bitcast, value } => {
                self.merged(scan, is_open, [*value].into_iter(), false)
            }
            Operation::Select { when_true, when_false, .. } => {
                self.merged(scan, is_open, [*when_true, *when_false].into_iter(), false)
            }
            _ => None,
        }
    }

    fn merged(&self, scan: &Scan<'_>, is_open: &[bool], operands: impl Iterator<Item = Operand>, is_phi: bool) -> Derived {
        let mut merged: SmallVec<[u32; 2]> = SmallVec::new();
        for operand in operands {
            let register = match operand {
                Operand::Register(register) => register,
                // Nothing lies behind null.
                Operand::Constant(constant) if matches!(scan.program.constants[constant], Constant::Null) => continue,
                Operand::Constant(_) => return None,
            };
            if is_open[usize::from(register)] {
                continue;
            }
            for root in self.derived[usize::from(register)].as_ref()? {
                if is_phi && self.all[*root as usize].is_repeated {
                    return None;
                }
                if let Err(at) = merged.binary_search(root) {
                    merged.insert(at, *root);
                }
            }
        }
        (merged.len() <= MOST_ROOTS).then_some(merged)
    }

    /// The roots behind an operand, none behind null; `None` for whatever is no derived address.
    pub fn behind(&self, scan: &Scan<'_>, operand: Operand) -> Option<&[u32]> {
        match operand {
            Operand::Register(register) => self.derived[usize::from(register)].as_deref(),
            Operand::Constant(constant) => matches!(scan.program.constants[constant], Constant::Null).then_some(&[]),
        }
    }

    /// The roots that an instruction makes when it gives a register its value.
    pub fn made(&self, register: RegisterId) -> &[u32] {
        let roots = self.derived[usize::from(register)].as_deref().unwrap_or_default();
        let is_own = roots.first().is_some_and(|first| self.all[*first as usize].register == register);
        if is_own { roots } else { &[] }
    }

    /// The objects whose addresses a parameter may hold, as far as they are followed.
    pub fn objects_of(&self, parameter: usize) -> impl Iterator<Item = AbstractObjectId> + '_ {
        let is_its = move |root: &&Root| root.origin == Origin::Parameter(parameter);
        self.all.iter().filter(is_its).map(|root| root.object)
    }
}

fn origin(scan: &Scan<'_>, instruction: &Instruction) -> Option<Origin> {
    match &instruction.operation {
        Operation::StackAllocate { .. } => Some(Origin::Made),
        Operation::Call { callee, .. } => {
            let mut returning = SmallVec::new();
            for callee in scan.callees(*callee, instruction.site) {
                match scan.model(callee) {
                    Some(model) => {
                        let is_new = |effect: &Effect| {
                            matches!(
                                effect,
                                Effect::Allocate { result: AllocationResult::Returned, .. } | Effect::Reallocate { .. }
                            )
                        };
                        model.effects.iter().any(is_new).then_some(())?;
                    }
                    None if scan.program.functions[callee].is_defined() => returning.push(callee),
                    None => return None,
                }
            }
            Some(if returning.is_empty() { Origin::Made } else { Origin::Returned(returning) })
        }
        _ => None,
    }
}

/// By block: whether it can be reached from itself.
fn repeated_blocks(function: &Function) -> Vec<bool> {
    let mut graph = petgraph::graph::DiGraph::<(), ()>::new();
    let nodes: Vec<_> = function.blocks.iter().map(|_| graph.add_node(())).collect();
    let mut is_repeated = vec![false; function.blocks.len()];
    for (block, content) in function.blocks.iter_enumerated() {
        for successor in content.terminator.kind.successors() {
            graph.add_edge(nodes[usize::from(block)], nodes[usize::from(successor)], ());
            is_repeated[usize::from(block)] |= successor == block;
        }
    }
    for component in petgraph::algo::tarjan_scc(&graph).iter().filter(|component| component.len() > 1) {
        component.iter().for_each(|node| is_repeated[node.index()] = true);
    }
    is_repeated
}
