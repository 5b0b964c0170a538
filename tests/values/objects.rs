//! The abstract objects that stand for the objects of a run.

use std::collections::BTreeMap;

use lockcheck::explore::machine::{Event, EventKind, Machine};
use lockcheck::explore::memory::ObjectKind;
use lockcheck::explore::thread_id::ThreadId;
use lockcheck::explore::value::ObjectId;
use lockcheck::facts::{AbstractObjectId, AbstractObjectKind, Location, Origin, PointsTo, Position};
use lockcheck::program::{FunctionId, Operation, Program, SiteId};

pub struct Objects<'p> {
    pub program: &'p Program,
    pub points_to: &'p PointsTo,
    pub positions: BTreeMap<SiteId, Vec<Position>>,
    /// The active functions of each thread and the sites that called them, outermost first.
    stacks: BTreeMap<ThreadId, Vec<(FunctionId, Option<SiteId>)>>,
    heap: BTreeMap<ObjectId, Vec<AbstractObjectId>>,
    seen: u32,
}

impl<'p> Objects<'p> {
    pub fn new(program: &'p Program, points_to: &'p PointsTo) -> Objects<'p> {
        let mut positions: BTreeMap<SiteId, Vec<Position>> = BTreeMap::new();
        for (function, body) in program.functions.iter_enumerated() {
            for (block, content) in body.blocks.iter_enumerated() {
                let sites = content.instructions.iter().map(|instruction| instruction.site).chain([content.terminator.site]);
                for (index, site) in sites.enumerate() {
                    positions.entry(site).or_default().push(Position { function, block, index });
                }
            }
        }
        Objects { program, points_to, positions, stacks: BTreeMap::new(), heap: BTreeMap::new(), seen: 0 }
    }

    /// Follows calls, and names heap objects by the calls that are active when they are made.
    pub fn follow(&mut self, machine: &Machine<'_>, event: &Event<'_>) {
        for index in self.seen..machine.memory.object_count() {
            let id = ObjectId(index);
            if let ObjectKind::Heap { site: Some(site), .. } = machine.memory.object(id).kind {
                let stack = self.stacks.get(&event.thread).map_or(&[][..], Vec::as_slice);
                let is_call = |site: SiteId, callee| self.points_to.callees(site).contains(&callee);
                let calls = (0..stack.len()).rev().map(|at| {
                    let (function, call_site) = stack[at];
                    let call_site = call_site.filter(|site| is_call(*site, function));
                    (call_site, at.checked_sub(1).map_or(function, |below| stack[below].0))
                });
                let origin = self.origin(event.thread);
                let name = self.points_to.heap_objects(site, self.program.sites[site].function, calls, origin);
                self.heap.insert(id, name);
            }
        }
        self.seen = machine.memory.object_count();
        match event.kind {
            EventKind::Call { function } => self.stacks.entry(event.thread).or_default().push((function, event.site)),
            EventKind::Return { .. } => drop(self.stacks.entry(event.thread).or_default().pop()),
            _ => {}
        }
    }

    /// The operations of a site.
    pub fn operations(&self, site: SiteId) -> impl Iterator<Item = &Operation> {
        let positions = self.positions.get(&site).into_iter().flatten();
        positions.filter_map(|at| {
            let block = &self.program.functions[at.function].blocks[at.block];
            block.instructions.get(at.index).map(|instruction| &instruction.operation)
        })
    }

    /// `None` for objects that no program text names.
    pub fn names(&self, machine: &Machine<'_>, object: ObjectId) -> Option<Vec<AbstractObjectId>> {
        let of_kind = |kind: AbstractObjectKind| self.points_to.object_of_kind(&kind).into_iter().collect::<Vec<_>>();
        Some(match machine.memory.object(object).kind {
            ObjectKind::Global(global) => of_kind(AbstractObjectKind::Global(global)),
            ObjectKind::ThreadLocal { global, .. } => of_kind(AbstractObjectKind::ThreadLocal(global)),
            ObjectKind::Heap { site: Some(_), .. } => self.heap.get(&object).cloned().unwrap_or_default(),
            ObjectKind::Stack { site, thread, .. } => self.stack_names(site, self.origin(ThreadId(thread)))?,
            ObjectKind::Function(_) | ObjectKind::Block(..) | ObjectKind::Heap { site: None, .. } | ObjectKind::Internal(_) => {
                return None;
            }
        })
    }

    /// Of what a thread does: it begins with the outermost function on its stack.
    fn origin(&self, thread: ThreadId) -> Origin {
        match self.stacks.get(&thread).and_then(|stack| stack.first()) {
            Some((entry, _)) if thread != ThreadId(0) => Origin::Entry(*entry),
            _ => Origin::First,
        }
    }

    /// The areas of variadic arguments are named by nobody.
    fn stack_names(&self, site: SiteId, origin: Origin) -> Option<Vec<AbstractObjectId>> {
        let mut names = Vec::new();
        for at in self.positions.get(&site).into_iter().flatten() {
            let block = &self.program.functions[at.function].blocks[at.block];
            let Some(instruction) = block.instructions.get(at.index) else { continue };
            match (&instruction.operation, instruction.result) {
                (Operation::StackAllocate { .. }, Some(register)) => {
                    names.extend(self.points_to.stack_objects(at.function, register, site, origin));
                }
                (Operation::Call { .. }, _) => {
                    let copies = self.points_to.objects().filter(|(_, object)| match object.kind {
                        AbstractObjectKind::ByValueCopy { function, .. } => self.points_to.callees(site).contains(&function),
                        _ => false,
                    });
                    names.extend(copies.map(|(id, _)| id));
                }
                (Operation::VariadicStart { .. }, _) => return None,
                _ => {}
            }
        }
        Some(names)
    }

    /// Whether bytes of an object with these names are inside so many bytes from a location on.
    pub fn contains(
        &self,
        names: &[AbstractObjectId],
        (offset, size): (u64, u64),
        location: Location,
        width: Option<u64>,
    ) -> bool {
        let is_named = names.contains(&location.object)
            || self.points_to.object(location.object).kind == AbstractObjectKind::Unknown
                && names.iter().any(|name| self.points_to.is_escaped(*name));
        let first = width.map_or(0, |width| (offset + size).saturating_sub(width));
        is_named && (first..=offset).rev().take(4096).any(|start| location.offset.contains(start))
    }
}
