//! Loads that give the same value, and loads of which it is known: memory that nobody ever writes keeps its initial bytes.
//!
//! # Definition   Two loads of one block with the same address and type, from locations that no access of the program writes, are one value, named by the
//!                first of the two. (`locks[job->index % 4]` and `data[job->index]`: one index.)
//! # Theorem      When the later register is used, the first one's latest execution was in the same run through the block, so that both hold the same value.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::facts::accesses::WHOLE;
use crate::facts::{AbstractObjectId, AbstractObjectKind, Facts, Location, Offset, TermId, ThreadKind};
use crate::program::{BlockId, FunctionId, Operand, Operation, Program, RegisterId, Scalar, Type};

/// Larger tables are not looked into, in bytes.
const LARGEST_TABLE: u64 = 4096;

/// The writes of a program, and for each function the registers that are the same as an earlier one.
pub struct Loads<'a, 'p> {
    program: &'a Program,
    facts: &'a Facts<'p>,
    written: FxHashMap<AbstractObjectId, Vec<(Location, u64)>>,
    has_unknown_writes: bool,
    /// Code outside calls into the program, at any time.
    is_library: bool,
    first_of: FxHashMap<FunctionId, FxHashMap<RegisterId, RegisterId>>,
    terms: FxHashMap<(FunctionId, Operand), TermId>,
}

impl<'a, 'p> Loads<'a, 'p> {
    pub fn of(program: &'a Program, facts: &'a Facts<'p>) -> Loads<'a, 'p> {
        let mut all: FxHashSet<(Location, u64)> = FxHashSet::default();
        for (function, body) in program.functions.iter_enumerated() {
            for (block, content) in body.blocks.iter_enumerated() {
                for index in 0..=content.instructions.len() {
                    for access in facts.accesses.at(function, block, index).iter().filter(|access| access.action.writes()) {
                        let locations = access.locations(&facts.points_to, &facts.call_graph, &program.layout, function);
                        all.extend(locations.into_iter().map(|location| (location, access.size.unwrap_or(WHOLE))));
                    }
                }
            }
        }
        let mut written: FxHashMap<AbstractObjectId, Vec<(Location, u64)>> = FxHashMap::default();
        for (location, size) in all {
            written.entry(location.object).or_default().push((location, size));
        }
        let unknown = facts.points_to.object_of_kind(&AbstractObjectKind::Unknown);
        let has_unknown_writes = unknown.is_some_and(|unknown| written.contains_key(&unknown));
        let is_library = facts.threads.threads().any(|(_, thread)| thread.kind == ThreadKind::Library);
        Loads {
            program,
            facts,
            written,
            has_unknown_writes,
            is_library,
            first_of: FxHashMap::default(),
            terms: FxHashMap::default(),
        }
    }

    /// The term of an operand, in which loads of one value have one name.
    pub fn term(&mut self, function: FunctionId, operand: Operand) -> TermId {
        if let Some(known) = self.terms.get(&(function, operand)) {
            return *known;
        }
        if !self.first_of.contains_key(&function) {
            let first_of = self.find(function);
            self.first_of.insert(function, first_of);
        }
        let term = self.facts.values.term(function, operand);
        let term = self.renamed(function, &self.first_of[&function], term);
        self.terms.insert((function, operand), term);
        term
    }

    fn renamed(&self, function: FunctionId, first_of: &FxHashMap<RegisterId, RegisterId>, term: TermId) -> TermId {
        let values = &self.facts.values;
        let leaves = values.leaves(term);
        if !leaves.iter().any(|leaf| first_of.contains_key(leaf)) {
            return term;
        }
        let names: Vec<(RegisterId, TermId)> =
            leaves.iter().map(|leaf| (*leaf, values.leaf(function, first_of.get(leaf).copied().unwrap_or(*leaf)))).collect();
        let name_of = |register: RegisterId| names.iter().find(|(leaf, _)| *leaf == register).map(|(_, name)| *name);
        values.substitute(term, &name_of).unwrap_or(term)
    }

    fn find(&self, function: FunctionId) -> FxHashMap<RegisterId, RegisterId> {
        let mut first_of = FxHashMap::default();
        let body = &self.program.functions[function];
        for block in &body.blocks {
            let mut seen: FxHashMap<(TermId, Type), RegisterId> = FxHashMap::default();
            for instruction in &block.instructions {
                let (Operation::Load { address, access }, Some(result)) = (&instruction.operation, instruction.result) else {
                    continue;
                };
                let ty = body.registers[result].ty;
                if access.is_volatile || !self.is_never_written(function, *address, self.program.layout.store_bytes(ty)) {
                    continue;
                }
                let address = self.renamed(function, &first_of, self.facts.values.term(function, *address));
                match seen.get(&(address, ty)) {
                    Some(first) => {
                        first_of.insert(result, *first);
                    }
                    None => {
                        seen.insert((address, ty), result);
                    }
                }
            }
        }
        first_of
    }

    /// If the register is loaded a fixed distance from the argument, out of a table that nobody writes and whose entries all differ: the
    /// table. Threads with different arguments then have different values.
    pub fn entry_of_a_table(&mut self, function: FunctionId, register: RegisterId, argument: TermId) -> Option<Location> {
        let body = &self.program.functions[function];
        let mut instructions = body.blocks.iter().flat_map(|block| &block.instructions);
        let load = instructions.find(|one| one.result == Some(register))?;
        let Operation::Load { address, .. } = load.operation else { return None };
        let term = self.term(function, address);
        self.facts.values.difference(term, argument)?;
        let size = self.program.layout.store_bytes(body.registers[register].ty);
        let mut locations = self.facts.points_to.pointees(function, address);
        let (Some(location), None) = (locations.next(), locations.next()) else { return None };
        let AbstractObjectKind::Global(global) = self.facts.points_to.object(location.object).kind else { return None };
        let global = &self.program.globals[global];
        if !global.relocations.is_empty() || global.size > LARGEST_TABLE || !self.is_never_written(function, address, size) {
            return None;
        }
        let entry = |at: u64| (at..at + size).map(|at| global.bytes.get(at as usize).copied().unwrap_or(0)).collect::<Vec<u8>>();
        let entries: Vec<Vec<u8>> =
            (0..(global.size + 1).saturating_sub(size)).filter(|at| location.offset.contains(*at)).map(entry).collect();
        let different: FxHashSet<&Vec<u8>> = entries.iter().collect();
        (different.len() == entries.len()).then_some(location)
    }

    /// Loads of one exact place in a global that nobody writes, and its number.
    pub fn fixed(&self, function: FunctionId) -> Vec<(BlockId, RegisterId, u64)> {
        let body = &self.program.functions[function];
        let mut fixed = Vec::new();
        for (id, block) in body.blocks.iter_enumerated() {
            for instruction in &block.instructions {
                if let (Operation::Load { address, access }, Some(result)) = (&instruction.operation, instruction.result)
                    && !access.is_volatile
                    && let Some(number) = self.fixed_number(function, *address, body.registers[result].ty)
                {
                    fixed.push((id, result, number));
                }
            }
        }
        fixed
    }

    fn fixed_number(&self, function: FunctionId, address: Operand, ty: Type) -> Option<u64> {
        let points_to = &self.facts.points_to;
        let mut locations = points_to.pointees(function, address);
        let (Some(location), None) = (locations.next(), locations.next()) else { return None };
        let (Offset::At(at), AbstractObjectKind::Global(global)) = (location.offset, &points_to.object(location.object).kind)
        else {
            return None;
        };
        let (global, size) = (&self.program.globals[*global], self.program.layout.store_bytes(ty));
        // Whoever calls a library may set what it can name.
        let is_open = self.is_library && !global.is_static && !global.is_constant;
        let is_whole = matches!(ty, Type::Scalar(Scalar::Integer(bits)) if u64::from(bits) == 8 * size && bits <= 64);
        let is_address = global.relocations.iter().any(|relocation| relocation.offset < at + size && at < relocation.offset + 8);
        if is_open || !is_whole || is_address || at + size > global.size || !self.is_never_written(function, address, size) {
            return None;
        }
        let byte = |at: u64| u64::from(global.bytes.get(at as usize).copied().unwrap_or(0));
        Some((0..size).map(|number| byte(at + number) << (8 * number)).sum())
    }

    fn is_never_written(&self, function: FunctionId, address: Operand, size: u64) -> bool {
        let points_to = &self.facts.points_to;
        let mut locations = points_to.pointees(function, address).peekable();
        locations.peek().is_some()
            && locations.all(|location| {
                let is_global = matches!(points_to.object(location.object).kind, AbstractObjectKind::Global(global) if !self.program.globals[global].is_external);
                let mut writes = self.written.get(&location.object).into_iter().flatten();
                is_global
                    && !(self.has_unknown_writes && points_to.is_escaped(location.object))
                    && !writes.any(|(written, width)| points_to.may_alias(location, size, *written, *width))
            })
    }
}
