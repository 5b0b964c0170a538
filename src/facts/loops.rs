//! Natural loops: which blocks repeat, what counts the iterations, how often they run.
//!
//! # Definition   A back edge leads to a block that dominates its source; the natural loop of a header is the set of blocks that reach one of its
//!                back edges without passing the header. A counter is a phi of the header that starts with one value and grows by a constant
//!                in every iteration. A counted exit leaves the loop when a counter, or its next value, fails a comparison.
//! # Theorem      In the k-th iteration (from 0) of one execution of the loop a counter is start + k·step, as long as nothing wraps.
//! # Deviations   1. A cycle that is no natural loop (a jump into its middle) is only known as a cycle.  2. The bound of an exit may change in
//!                the loop: whoever compares two loops has to look at it.

use std::collections::BTreeSet;

use petgraph::algo::dominators::{Dominators, simple_fast};
use petgraph::algo::tarjan_scc;
use petgraph::graphmap::DiGraphMap;
use typed_index_collections::TiVec;

use crate::program::{
    BinaryOp, BlockId, CastKind, Constant, Function, IntegerPredicate, Operand, Operation, Phi, Predicate, Program, RegisterId,
    TerminatorKind,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LoopId(u32);

impl LoopId {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

#[derive(Clone, Debug)]
pub struct Loop {
    pub header: BlockId,
    /// Where the back edges begin, ascending.
    pub latches: Vec<BlockId>,
    pub blocks: BTreeSet<BlockId>,
    /// The next loop around this one.
    pub parent: Option<LoopId>,
    /// Edges that leave the loop: from a block of it to one outside.
    pub exits: Vec<(BlockId, BlockId)>,
    pub counters: Vec<Counter>,
    pub counted_exits: Vec<CountedExit>,
}

/// `register` is `start` in the first iteration and grows by `step`, in bytes for a pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counter {
    pub register: RegisterId,
    pub start: Operand,
    pub step: i64,
    /// The register that holds the next iteration's value.
    pub next: RegisterId,
}

/// The loop goes on while `counter predicate bound`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountedExit {
    pub from: BlockId,
    pub to: BlockId,
    /// Index into the loop's `counters`.
    pub counter: usize,
    /// The next value of the counter is compared, not this iteration's.
    pub of_next: bool,
    pub widened: Option<CastKind>,
    pub predicate: IntegerPredicate,
    pub bound: Operand,
}

/// The loops of one function.
#[derive(Clone, Debug)]
pub struct Loops {
    loops: Vec<Loop>,
    innermost: TiVec<BlockId, Option<LoopId>>,
    is_in_cycle: TiVec<BlockId, bool>,
    /// Every cycle is a natural loop.
    pub is_reducible: bool,
}

impl Loops {
    pub fn of(program: &Program, function: &Function) -> Loops {
        let mut graph: DiGraphMap<BlockId, ()> = DiGraphMap::new();
        for (block, body) in function.blocks.iter_enumerated() {
            graph.add_node(block);
            for successor in body.terminator.kind.successors() {
                graph.add_edge(block, successor, ());
            }
        }
        let mut is_in_cycle: TiVec<BlockId, bool> = function.blocks.iter().map(|_| false).collect();
        for component in tarjan_scc(&graph) {
            let is_cycle = component.len() > 1 || graph.contains_edge(component[0], component[0]);
            component.iter().for_each(|block| is_in_cycle[*block] = is_cycle);
        }
        let mut loops = Loops {
            loops: Vec::new(),
            innermost: function.blocks.iter().map(|_| None).collect(),
            is_in_cycle,
            is_reducible: true,
        };
        if loops.is_in_cycle.iter().any(|is_in| *is_in) {
            loops.find(function, &graph);
            loops.count(program, function);
        }
        loops
    }

    fn find(&mut self, function: &Function, graph: &DiGraphMap<BlockId, ()>) {
        let dominators = simple_fast(graph, function.entry());
        let mut forward = graph.clone();
        for (header, body) in function.blocks.iter_enumerated() {
            let latches: Vec<BlockId> =
                body.predecessors.iter().copied().filter(|latch| dominates(&dominators, header, *latch)).collect();
            if latches.is_empty() {
                continue;
            }
            let mut blocks = BTreeSet::from([header]);
            let mut open = latches.clone();
            while let Some(block) = open.pop() {
                if blocks.insert(block) {
                    open.extend(
                        function.blocks[block]
                            .predecessors
                            .iter()
                            .copied()
                            .filter(|from| dominators.immediate_dominator(*from).is_some() || *from == function.entry()),
                    );
                }
            }
            for latch in &latches {
                forward.remove_edge(*latch, header);
            }
            let leaves = |block: &BlockId| {
                let from = *block;
                function.blocks[from].terminator.kind.successors().into_iter().map(move |to| (from, to))
            };
            let exits: BTreeSet<(BlockId, BlockId)> =
                blocks.iter().flat_map(leaves).filter(|(_, to)| !blocks.contains(to)).collect();
            let exits = exits.into_iter().collect();
            self.loops.push(Loop {
                header,
                latches,
                blocks,
                parent: None,
                exits,
                counters: Vec::new(),
                counted_exits: Vec::new(),
            });
        }
        let remains = |component: &Vec<BlockId>| {
            component.len() > 1 && component.iter().any(|block| dominators.immediate_dominator(*block).is_some())
        };
        self.is_reducible = !tarjan_scc(&forward).iter().any(remains);
        // Outer loops first, so that the innermost one is written last.
        self.loops.sort_by_key(|one| (std::cmp::Reverse(one.blocks.len()), one.header));
        for index in 0..self.loops.len() {
            self.loops[index].parent = self.innermost[self.loops[index].header];
            for block in self.loops[index].blocks.clone() {
                self.innermost[block] = Some(LoopId(index as u32));
            }
        }
    }

    fn count(&mut self, program: &Program, function: &Function) {
        let definitions = Definitions::of(function);
        for one in &mut self.loops {
            let header = &function.blocks[one.header];
            for phi in &header.phis {
                one.counters.extend(counter(program, function, &definitions, &one.latches, &header.predecessors, phi));
            }
            for &(from, to) in &one.exits {
                one.counted_exits.extend(counted_exit(function, &definitions, &one.counters, &one.blocks, from, to));
            }
        }
    }

    pub fn get(&self, id: LoopId) -> &Loop {
        &self.loops[id.index()]
    }

    pub fn iter(&self) -> impl Iterator<Item = (LoopId, &Loop)> {
        self.loops.iter().enumerate().map(|(index, one)| (LoopId(index as u32), one))
    }

    /// The innermost natural loop around a block.
    pub fn innermost(&self, block: BlockId) -> Option<LoopId> {
        self.innermost[block]
    }

    /// All natural loops around a block, innermost first.
    pub fn around(&self, block: BlockId) -> impl Iterator<Item = LoopId> + '_ {
        std::iter::successors(self.innermost[block], |one| self.get(*one).parent)
    }

    /// Whether the block may run several times in one activation of the function.
    pub fn is_in_cycle(&self, block: BlockId) -> bool {
        self.is_in_cycle[block]
    }

    /// The loop whose header defines this register as a counter.
    pub fn counter(&self, register: RegisterId) -> Option<(LoopId, Counter)> {
        self.iter()
            .find_map(|(id, one)| one.counters.iter().find(|counter| counter.register == register).map(|counter| (id, *counter)))
    }
}

fn dominates(dominators: &Dominators<BlockId>, above: BlockId, block: BlockId) -> bool {
    dominators.dominators(block).is_some_and(|mut chain| chain.any(|dominator| dominator == above))
}

/// Where each register is made.
#[derive(Clone, Debug)]
pub struct Definitions {
    places: TiVec<RegisterId, Option<Definition>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Definition {
    Parameter(usize),
    Phi { block: BlockId, index: usize },
    Instruction { block: BlockId, index: usize },
}

impl Definition {
    pub fn block(self) -> Option<BlockId> {
        match self {
            Definition::Parameter(_) => None,
            Definition::Phi { block, .. } | Definition::Instruction { block, .. } => Some(block),
        }
    }
}

impl Definitions {
    pub fn of(function: &Function) -> Definitions {
        let mut places: TiVec<RegisterId, Option<Definition>> = function.registers.iter().map(|_| None).collect();
        for (position, parameter) in function.parameters.iter().enumerate() {
            places[parameter.register] = Some(Definition::Parameter(position));
        }
        for (block, body) in function.blocks.iter_enumerated() {
            for (index, phi) in body.phis.iter().enumerate() {
                places[phi.result] = Some(Definition::Phi { block, index });
            }
            for (index, instruction) in body.instructions.iter().enumerate() {
                if let Some(result) = instruction.result {
                    places[result] = Some(Definition::Instruction { block, index });
                }
            }
        }
        Definitions { places }
    }

    pub fn get(&self, register: RegisterId) -> Option<Definition> {
        self.places[register]
    }

    /// The instruction that makes the register.
    pub fn operation<'f>(&self, function: &'f Function, register: RegisterId) -> Option<&'f Operation> {
        match self.get(register)? {
            Definition::Instruction { block, index } => Some(&function.blocks[block].instructions[index].operation),
            Definition::Parameter(_) | Definition::Phi { .. } => None,
        }
    }
}

/// The value of an integer constant, sign-extended.
pub fn constant(program: &Program, operand: Operand) -> Option<i64> {
    let Operand::Constant(id) = operand else { return None };
    match &program.constants[id] {
        Constant::Integer { bits, value } if *bits <= 64 => {
            let unused = 128 - bits;
            Some((((*value << unused) as i128) >> unused) as i64)
        }
        Constant::Null => Some(0),
        _ => None,
    }
}

fn counter(
    program: &Program,
    function: &Function,
    definitions: &Definitions,
    latches: &[BlockId],
    predecessors: &[BlockId],
    phi: &Phi,
) -> Option<Counter> {
    let (mut start, mut next) = (None, None);
    for (from, operand) in predecessors.iter().zip(&phi.operands) {
        let slot = if latches.contains(from) { &mut next } else { &mut start };
        if slot.is_some_and(|known: Operand| known != *operand) {
            return None;
        }
        *slot = Some(*operand);
    }
    let (start, Operand::Register(next)) = (start?, next?) else { return None };
    let step = match definitions.operation(function, next)? {
        Operation::Binary { op: BinaryOp::Add, left, right, .. } if *left == Operand::Register(phi.result) => {
            constant(program, *right)?
        }
        Operation::Binary { op: BinaryOp::Add, left, right, .. } if *right == Operand::Register(phi.result) => {
            constant(program, *left)?
        }
        Operation::Binary { op: BinaryOp::Subtract, left, right, .. } if *left == Operand::Register(phi.result) => {
            constant(program, *right)?.checked_neg()?
        }
        Operation::Offset { base, constant, terms, .. } if *base == Operand::Register(phi.result) && terms.is_empty() => {
            *constant
        }
        _ => return None,
    };
    (step != 0).then_some(Counter { register: phi.result, start, step, next })
}

fn counted_exit(
    function: &Function,
    definitions: &Definitions,
    counters: &[Counter],
    blocks: &BTreeSet<BlockId>,
    from: BlockId,
    to: BlockId,
) -> Option<CountedExit> {
    let TerminatorKind::Branch { condition: Operand::Register(condition), when_true, when_false } =
        function.blocks[from].terminator.kind
    else {
        return None;
    };
    let Operation::Compare { predicate: Predicate::Integer(predicate), left, right } =
        definitions.operation(function, condition)?
    else {
        return None;
    };
    // The branch must leave on one side only, and the comparison be made in this iteration.
    let stays_when_true = when_false == to && blocks.contains(&when_true);
    let stays_when_false = when_true == to && blocks.contains(&when_false);
    if stays_when_true == stays_when_false || !definitions.get(condition)?.block().is_some_and(|block| blocks.contains(&block)) {
        return None;
    }
    let predicate = if stays_when_true { *predicate } else { negated(*predicate) };
    let side = |operand: Operand| {
        let (register, widened) = match operand {
            Operand::Register(register) => match definitions.operation(function, register) {
                Some(Operation::Cast {
                    kind: kind @ (CastKind::SignExtend | CastKind::ZeroExtend),
                    value: Operand::Register(inner),
                }) => (*inner, Some(*kind)),
                _ => (register, None),
            },
            Operand::Constant(_) => return None,
        };
        let position =
            |next: bool| counters.iter().position(|counter| register == if next { counter.next } else { counter.register });
        position(false)
            .map(|counter| (counter, false, widened))
            .or_else(|| position(true).map(|counter| (counter, true, widened)))
    };
    let (counter, of_next, widened, predicate, bound) = match (side(*left), side(*right)) {
        (Some((counter, of_next, widened)), None) => (counter, of_next, widened, predicate, *right),
        (None, Some((counter, of_next, widened))) => (counter, of_next, widened, mirrored(predicate), *left),
        _ => return None,
    };
    Some(CountedExit { from, to, counter, of_next, widened, predicate, bound })
}

fn negated(predicate: IntegerPredicate) -> IntegerPredicate {
    use IntegerPredicate::*;
    match predicate {
        Equal => NotEqual,
        NotEqual => Equal,
        UnsignedGreater => UnsignedLessEqual,
        UnsignedGreaterEqual => UnsignedLess,
        UnsignedLess => UnsignedGreaterEqual,
        UnsignedLessEqual => UnsignedGreater,
        SignedGreater => SignedLessEqual,
        SignedGreaterEqual => SignedLess,
        SignedLess => SignedGreaterEqual,
        SignedLessEqual => SignedGreater,
    }
}

fn mirrored(predicate: IntegerPredicate) -> IntegerPredicate {
    use IntegerPredicate::*;
    match predicate {
        Equal => Equal,
        NotEqual => NotEqual,
        UnsignedGreater => UnsignedLess,
        UnsignedGreaterEqual => UnsignedLessEqual,
        UnsignedLess => UnsignedGreater,
        UnsignedLessEqual => UnsignedGreaterEqual,
        SignedGreater => SignedLess,
        SignedGreaterEqual => SignedLessEqual,
        SignedLess => SignedGreater,
        SignedLessEqual => SignedGreaterEqual,
    }
}

/// Iterations beyond which a constant trip count is not computed.
const MANY_ITERATIONS: u64 = 1 << 14;

/// How often the loop's body runs when it is left by this exit, for numbers that are known and do not wrap: an exit in the header is taken
/// before the body, any other one after it.
pub fn trip_count(start: i64, step: i64, exit: &CountedExit, is_in_header: bool, bound: i64) -> Option<u64> {
    use IntegerPredicate::*;
    let holds = |value: i64| match exit.predicate {
        Equal => value == bound,
        NotEqual => value != bound,
        SignedGreater => value > bound,
        SignedGreaterEqual => value >= bound,
        SignedLess => value < bound,
        SignedLessEqual => value <= bound,
        UnsignedGreater => (value as u64) > bound as u64,
        UnsignedGreaterEqual => value as u64 >= bound as u64,
        UnsignedLess => (value as u64) < bound as u64,
        UnsignedLessEqual => value as u64 <= bound as u64,
    };
    let mut value = if exit.of_next { start.checked_add(step)? } else { start };
    for turn in 0..MANY_ITERATIONS {
        // Numbers that leave the range of an `int` may have wrapped.
        if !holds(value) {
            return Some(if is_in_header { turn } else { turn + 1 });
        }
        value = value.checked_add(step).filter(|value| i32::try_from(*value).is_ok())?;
    }
    None
}
