//! Values: what registers hold, as terms over the values of other registers.
//!
//! # Definition   The term of a register is built from its definition: constants, addresses of globals, sums, pure operations, and *leaves*, the
//!                registers whose values come from elsewhere (parameters, loads, calls, phis). A call of a function that always returns one
//!                term of its parameters has that term, with its arguments in place of the parameters.
//! # Theorem      When an instruction uses a register, the register's value is its term's, with each leaf standing for the value of the
//!                leaf's latest execution. (Say the term of t has the leaf p, and p was executed after t. p's definition dominates t's, so
//!                some way leads from the entry to p without t, and from there, as in this run, to the use without t; but t dominates its uses.)
//!                That theorem is about uses: a term that is kept in a state must be dropped when one of its leaves is executed again.
//! # Deviations   1. Terms of more than a few leaves or nodes are leaves.  2. Numbers of more than 64 bits, floating-point numbers, vectors and
//!                aggregates are leaves.  3. Undefined values count as equal to themselves.

pub mod branch;
mod build;
mod gap;
mod pure;
mod rebase;
pub mod relative;
mod show;
mod term;
mod valuation;

use std::sync::{Mutex, MutexGuard};

use smallvec::SmallVec;
use typed_index_collections::TiVec;

use super::accesses::library_model;
use super::points_to::{AbstractObjectId, PointsTo};
use crate::models::BoundModels;
use crate::program::{FunctionId, Operand, Program, RegisterId, TerminatorKind};

pub use branch::{Definitions, EdgeFacts, Knowledge};
pub(in crate::facts) use build::reverse_postorder;
pub use gap::{Gap, Growth};
pub use pure::Pure;
pub(in crate::facts) use relative::greatest_common_divisor;
pub use relative::{InPart, Shape};
pub use term::{LeafKind, Leaves, TermId};
pub use valuation::Valuation;

use build::Builder;
use term::{Table, Term};

/// The terms of all functions, made when they are first asked for.
pub struct Values<'p> {
    workshop: Mutex<Workshop<'p>>,
}

struct Workshop<'p> {
    program: &'p Program,
    table: Table,
    /// By function: the terms of its registers.
    functions: TiVec<FunctionId, Option<Box<[TermId]>>>,
    returned: TiVec<FunctionId, Returned>,
}

/// What is known of what a function returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Returned {
    NotAsked,
    /// Also while it is being looked at: a function that calls itself returns no term.
    Unknown,
    Term(TermId),
}

impl<'p> Values<'p> {
    pub fn of(program: &'p Program, models: &BoundModels<'_>) -> Values<'p> {
        // What a model replaces is not what the body says.
        let returned = |id: FunctionId| match library_model(program, models, id).is_some() || !program.functions[id].is_defined()
        {
            true => Returned::Unknown,
            false => Returned::NotAsked,
        };
        Values {
            workshop: Mutex::new(Workshop {
                program,
                table: Table::new(program.layout.pointer_bits()),
                functions: program.functions.iter().map(|_| None).collect(),
                returned: program.functions.keys().map(returned).collect(),
            }),
        }
    }

    fn workshop(&self) -> MutexGuard<'_, Workshop<'p>> {
        self.workshop.lock().expect("no panic while terms are made")
    }

    /// The term of an operand where an instruction of the function uses it.
    pub fn term(&self, function: FunctionId, operand: Operand) -> TermId {
        self.workshop().term(function, operand)
    }

    /// The register itself as a leaf: its latest value, whatever its definition says.
    pub fn leaf(&self, function: FunctionId, register: RegisterId) -> TermId {
        let mut workshop = self.workshop();
        let kind = build::leaf_kind(workshop.program.functions[function].registers[register].ty);
        workshop.table.intern(Term::Leaf { register, kind })
    }

    /// The registers, of the term's function, that it depends on, ascending; none for a constant.
    pub fn leaves(&self, term: TermId) -> Leaves {
        self.workshop().table.leaves(term).clone()
    }

    /// Whether it depends on a register of its function.
    pub fn depends_on(&self, term: TermId, register: RegisterId) -> bool {
        self.workshop().table.leaves(term).contains(&register)
    }

    pub fn is_constant(&self, term: TermId) -> bool {
        self.workshop().table.leaves(term).is_empty()
    }

    /// `left − right` when it is a number, both of one function.
    pub fn difference(&self, left: TermId, right: TermId) -> Option<i64> {
        self.workshop().table.difference(left, right)
    }

    /// `left − right` when it is a number and a multiple of what two values differ by; see [`gap`].
    pub fn gap(&self, left: TermId, right: TermId) -> Option<Gap> {
        gap::gap(&mut self.workshop().table, left, right)
    }

    /// The lowest bits of a number, or of an address; `None` if it has no more.
    pub fn low_bits(&self, term: TermId, bits: u32) -> Option<TermId> {
        let table = &mut self.workshop().table;
        (table.bits(term) > bits).then(|| table.operation(Pure::Truncate, bits, SmallVec::from_slice(&[term])))
    }

    pub fn plus(&self, term: TermId, by: i64) -> TermId {
        self.workshop().table.plus(term, by)
    }

    /// The term with other terms, perhaps of another function, in place of its leaves; `None` when a leaf has none, or not of its width.
    pub fn substitute(&self, term: TermId, replacement: &dyn Fn(RegisterId) -> Option<TermId>) -> Option<TermId> {
        self.workshop().substitute(term, replacement)
    }

    /// A caller's term in the words of its callee: pairs of an argument's term and the parameter's leaf.
    pub fn rebase(&self, term: TermId, bindings: &[(TermId, TermId)]) -> Option<TermId> {
        rebase::rebase(&mut self.workshop().table, term, bindings)
    }

    /// What the function returns on every way, as a term of its parameters.
    pub fn returned(&self, function: FunctionId) -> Option<TermId> {
        self.workshop().returned(function, 0)
    }

    /// What the access at an address says about the lock that is held; see [`relative`]. Both terms are of this function.
    pub fn shape(
        &self,
        points_to: &PointsTo,
        function: FunctionId,
        address: TermId,
        size: Option<u64>,
        lock: TermId,
    ) -> Option<Shape> {
        relative::shape(&mut self.workshop().table, points_to, function, address, size, lock)
    }

    /// The shape of a thread's argument for bytes of its part of an object (`own`).
    pub fn shape_in_part(&self, object: AbstractObjectId, part: InPart) -> Option<Shape> {
        relative::shape_in_part(&mut self.workshop().table, object, part)
    }

    /// Whether two accesses, one of each shape, hold the same lock if they touch a common byte.
    pub fn agree(&self, left: &Shape, right: &Shape) -> bool {
        relative::agree(&mut self.workshop().table, left, right)
    }

    /// The register that an address is counted from, whatever is added to it.
    pub fn base(&self, function: FunctionId, address: Operand) -> Option<RegisterId> {
        let mut workshop = self.workshop();
        let term = workshop.term(function, address);
        relative::base_register(&workshop.table, term)
    }

    /// For people.
    pub fn show(&self, term: TermId) -> String {
        let workshop = self.workshop();
        show::show(workshop.program, &workshop.table, term)
    }

    /// How many different terms there are.
    pub fn len(&self) -> usize {
        self.workshop().table.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Workshop<'_> {
    fn term(&mut self, function: FunctionId, operand: Operand) -> TermId {
        match operand {
            Operand::Register(register) => self.register(function, register, 0),
            Operand::Constant(_) => self.constant(operand).expect("the operand is a constant"),
        }
    }

    fn constant(&mut self, operand: Operand) -> Option<TermId> {
        match operand {
            Operand::Constant(constant) => {
                let term = build::constant_term(self.program, constant);
                Some(self.table.intern(term))
            }
            Operand::Register(_) => None,
        }
    }

    fn register(&mut self, function: FunctionId, register: RegisterId, depth: usize) -> TermId {
        if self.functions[function].is_none() {
            let terms = Builder::of(self, function, depth);
            self.functions[function] = Some(terms.into());
        }
        self.functions[function].as_ref().expect("they were made")[usize::from(register)]
    }

    fn returned(&mut self, id: FunctionId, depth: usize) -> Option<TermId> {
        match self.returned[id] {
            Returned::Term(term) => return Some(term),
            Returned::Unknown => return None,
            Returned::NotAsked => {}
        }
        self.returned[id] = Returned::Unknown;
        let program = self.program;
        let function = &program.functions[id];
        let mut returned = None;
        for block in &function.blocks {
            let TerminatorKind::Return(value) = &block.terminator.kind else { continue };
            let term = match (*value)? {
                Operand::Register(register) => self.register(id, register, depth),
                constant => self.constant(constant)?,
            };
            if *returned.get_or_insert(term) != term {
                return None;
            }
        }
        let term = returned?;
        let is_parameter = |register: &RegisterId| {
            function.parameters.iter().any(|parameter| parameter.register == *register && parameter.by_value.is_none())
        };
        if self.table.leaves(term).iter().all(is_parameter) {
            self.returned[id] = Returned::Term(term);
            return Some(term);
        }
        None
    }

    fn substitute(&mut self, term: TermId, replacement: &dyn Fn(RegisterId) -> Option<TermId>) -> Option<TermId> {
        let new = self.table.rewrite(term, &mut |table, node| match table.get(node) {
            Term::Leaf { register, .. } => replacement(*register),
            _ => None,
        })?;
        self.table.is_small(new).then_some(new)
    }
}
