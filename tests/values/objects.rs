//! The abstract objects that stand for the objects of a run.

use std::collections::BTreeMap;

use lockcheck::explore::machine::{Event, EventKind, Machine};
use lockcheck::explore::memory::ObjectKind;
use lockcheck::explore::thread_id::ThreadId;
use lockcheck::explore::value::ObjectId;
use lockcheck::facts::{AbstractObjectId, AbstractObjectKind, Location, PointsTo, Position};
use lockcheck::program::{Operation, Program, SiteId};

use crate::stacks::Stacks;

pub struct Objects<'p> {
    pub program: &'p Program,
    pub points_to: &'p PointsTo,
    pub positions: BTreeMap<SiteId, Vec<Position>>,
    stacks: Stacks,
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
        Objects { program, points_to, positions, stacks: Stacks::default(), heap: BTreeMap::new(), seen: 0 }
    }

    /// Follows calls, and names heap objects by the calls that are active when they are made.
    pub fn follow(&mut self, machine: &Machine<'_>, event: &Event<'_>) {
        for index in self.seen..machine.memory.object_count() {
            let id = ObjectId(index);
            if let ObjectKind::Heap { site: Some(site), .. } = machine.memory.object(id).kind {
                self.heap.insert(id, self.stacks.heap_names(self.program, self.points_to, site, event.thread));
            }
        }
        self.seen = machine.memory.object_count();
        match event.kind {
            EventKind::Call { function } => self.stacks.push(event.thread, function, event.site),
            EventKind::Return { .. } => _ = self.stacks.pop(event.thread),
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
            ObjectKind::Stack { site, thread, .. } => self.stack_names(site, ThreadId(thread))?,
            ObjectKind::Function(_) | ObjectKind::Block(..) | ObjectKind::Heap { site: None, .. } | ObjectKind::Internal(_) => {
                return None;
            }
        })
    }

    /// The areas of variadic arguments are named by nobody.
    fn stack_names(&self, site: SiteId, thread: ThreadId) -> Option<Vec<AbstractObjectId>> {
        let mut names = Vec::new();
        for at in self.positions.get(&site).into_iter().flatten() {
            let block = &self.program.functions[at.function].blocks[at.block];
            let Some(instruction) = block.instructions.get(at.index) else { continue };
            match (&instruction.operation, instruction.result) {
                (Operation::StackAllocate { .. }, Some(register)) => {
                    names.extend(self.stacks.slot_names(self.points_to, (at.function, register, site), thread));
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
