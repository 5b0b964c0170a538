//! Ahead: what a creator does to the part of the thread that it creates next.
//!
//! # Definition   An access is ahead of a thread when its address is (`facts/threads/ahead`), or is counted from a parameter that is in all calls of its function. Its shape is that of
//!                the next instance's argument: which argument would an instance have, in whose part the accessed bytes are?
//! # Theorem      An access ahead of a thread, and one of an instance of it that touches a common byte and whose address says in the same way which argument it was created
//!                with, are in order: the argument is that of an instance which has not begun.
//! # Deviations   Addresses that are passed on through memory, or by functions that call each other, are not followed.

use std::cell::RefCell;
use std::rc::Rc;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::spans::Span;
use crate::facts::accesses::Position;
use crate::facts::{AbstractObjectId, Ahead, CallKind, Facts, InPart, MemoryAccess, Offset, TermId, ThreadId};
use crate::program::{FunctionId, Operand, Operation, Program, SiteId};

/// An access of so many bytes behind the argument of a thread's next instance, or with that argument as a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NextPart {
    pub thread: ThreadId,
    pub by: NextBy,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NextBy {
    Part(AbstractObjectId, InPart),
    Argument(TermId),
}

/// What accesses are ahead of.
pub struct AheadOf<'a, 'p> {
    program: &'a Program,
    facts: &'a Facts<'p>,
    /// By function: its call instructions.
    calls: RefCell<FxHashMap<FunctionId, Rc<Calls>>>,
    /// What was asked for before; nothing for what is being asked for.
    parameters: RefCell<FxHashMap<(FunctionId, usize), Found>>,
}

type Calls = FxHashMap<SiteId, SmallVec<[Position; 1]>>;
type Found = SmallVec<[Ahead; 1]>;

impl<'a, 'p> AheadOf<'a, 'p> {
    pub fn new(program: &'a Program, facts: &'a Facts<'p>) -> AheadOf<'a, 'p> {
        AheadOf { program, facts, calls: RefCell::default(), parameters: RefCell::default() }
    }

    /// What an access to an object is ahead of; `spans`: the bytes that it stays in.
    pub fn next_parts(
        &self,
        (position, access): (Position, &MemoryAccess),
        spans: &[Span],
        object: AbstractObjectId,
    ) -> SmallVec<[NextPart; 1]> {
        let Some(operand) = access.operand().filter(|_| self.facts.threads.has_any_ahead()) else { return SmallVec::new() };
        let part = |ahead: &Ahead, (distance, size): (i64, Option<u64>)| {
            let of_part = || {
                let (behind, size) = (u64::try_from(ahead.behind?.checked_add(distance)?).ok()?, size?);
                let (first, width) = self.first_part(ahead.thread, object)?;
                let cells = (first + behind) / width;
                let is_inside = behind + size <= width && first + behind + size <= (cells + 1) * width;
                is_inside.then_some(NextBy::Part(object, InPart { first, width, cells }))
            };
            let by_term = || Some(NextBy::Argument(self.facts.values.term(position.function, ahead.argument?)));
            Some(NextPart { thread: ahead.thread, by: of_part().or_else(by_term)? })
        };
        let of = |operand: Operand, bytes: (i64, Option<u64>)| {
            let ahead = self.at(position, operand);
            ahead.iter().filter_map(|ahead| part(ahead, bytes)).collect::<SmallVec<[NextPart; 1]>>()
        };
        // The address, or what it is counted from.
        let spans = spans.iter().map(|span| of(span.base, (span.distance, Some(span.size))));
        spans.chain([of(operand, (0, None))]).find(|found| !found.is_empty()).unwrap_or_default()
    }

    /// Where in an object the parts of a thread's instances begin, and how far one is behind the other.
    fn first_part(&self, thread: ThreadId, object: AbstractObjectId) -> Option<(u64, u64)> {
        let width = self.facts.threads.argument_distance(thread)?;
        let entry = self.facts.threads.thread(thread).entry?;
        let register = self.program.functions[entry].parameters.first()?.register;
        let pointees = self.facts.points_to.pointees(entry, Operand::Register(register));
        let mut places = pointees.filter(|place| place.object == object);
        let (Some(place), None) = (places.next(), places.next()) else { return None };
        match place.offset {
            Offset::Class { residue, stride } if stride % width == 0 => Some((residue % width, width)),
            _ => None,
        }
    }

    fn at(&self, position: Position, operand: Operand) -> Found {
        let known = self.facts.threads.ahead(position, operand);
        if known.is_empty() { self.counted(position.function, operand).unwrap_or_default() } else { known.into() }
    }

    /// Of an address that is counted from a parameter.
    fn counted(&self, function: FunctionId, operand: Operand) -> Option<Found> {
        let values = &self.facts.values;
        let base = values.base(function, operand)?;
        let parameters = &self.program.functions[function].parameters;
        let number = parameters.iter().position(|one| one.register == base && one.by_value.is_none())?;
        let distance = values.difference(values.term(function, operand), values.term(function, Operand::Register(base)))?;
        let moved = |ahead: &Ahead| {
            let behind = ahead.behind?.checked_add(distance)?;
            Some(Ahead { behind: Some(behind), argument: None, ..*ahead })
        };
        Some(self.of_parameter(function, number).iter().filter_map(moved).collect())
    }

    /// What all calls of a function agree in.
    fn of_parameter(&self, function: FunctionId, number: usize) -> Found {
        if let Some(known) = self.parameters.borrow().get(&(function, number)) {
            return known.clone();
        }
        self.parameters.borrow_mut().insert((function, number), Found::new());
        let mut found: Option<Found> = None;
        for edge in self.facts.call_graph.calls_of(function) {
            let passed = match (edge.kind, edge.caller, edge.site) {
                (CallKind::Call, Some(caller), Some(site)) => self.passed(caller, site, number),
                _ => None,
            };
            match (&mut found, passed) {
                (Some(known), Some(passed)) => known.retain(|one| passed.contains(one)),
                (None, Some(passed)) => found = Some(passed),
                (_, None) => found = Some(Found::new()),
            }
            if found.as_ref().is_some_and(|found| found.is_empty()) {
                break;
            }
        }
        let found = found.unwrap_or_default();
        self.parameters.borrow_mut().insert((function, number), found.clone());
        found
    }

    fn passed(&self, caller: FunctionId, site: SiteId, number: usize) -> Option<Found> {
        let calls = self.calls_of(caller);
        let mut found: Option<Found> = None;
        for position in calls.get(&site)? {
            let instruction = &self.program.functions[caller].blocks[position.block].instructions[position.index];
            let Operation::Call { arguments, .. } = &instruction.operation else { continue };
            let passed = self.at(*position, arguments.get(number)?.value);
            match &mut found {
                Some(known) => known.retain(|one| passed.contains(one)),
                None => found = Some(passed),
            }
        }
        found
    }

    fn calls_of(&self, function: FunctionId) -> Rc<Calls> {
        let find = || {
            let mut calls = Calls::default();
            for (block, content) in self.program.functions[function].blocks.iter_enumerated() {
                for (index, instruction) in content.instructions.iter().enumerate() {
                    if matches!(instruction.operation, Operation::Call { .. }) {
                        calls.entry(instruction.site).or_default().push(Position { function, block, index });
                    }
                }
            }
            Rc::new(calls)
        };
        self.calls.borrow_mut().entry(function).or_insert_with(find).clone()
    }
}
