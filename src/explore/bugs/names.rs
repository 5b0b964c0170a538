//! Names for people: threads, objects and locks of a run in the words of the source.

use crate::explore::machine::Machine;
use crate::explore::memory::ObjectKind;
use crate::explore::sync::{HeldLock, SyncKey};
use crate::explore::thread_id::ThreadId;
use crate::explore::value::ObjectId;
use crate::findings;
use crate::findings::{End, Role, TraceStep};
use crate::program::describe::{describe_access, describe_global_part, describe_type_part};
use crate::program::{Callee, Instruction, Operand, Operation, Place, Program, SiteId, Variable};

/// Looks names up in a machine and its program.
pub struct Names<'a> {
    machine: &'a Machine<'a>,
    pub program: &'a Program,
}

/// Where memory is touched, and how: what an expression for it can be read off.
#[derive(Clone, Copy, Debug)]
pub struct Touch {
    pub site: Option<SiteId>,
    pub is_write: bool,
}

impl<'a> Names<'a> {
    pub fn new(machine: &'a Machine<'a>) -> Names<'a> {
        Names { machine, program: machine.program }
    }

    pub fn machine(&self) -> &'a Machine<'a> {
        self.machine
    }

    /// `main`, or `visitor@a.c:30`; with a number when that line created several.
    pub fn thread(&self, id: ThreadId) -> String {
        let entry = self.entry(id);
        let Some(origin) = self.origin(id) else { return entry.to_owned() };
        let twins = self.namesakes(id).filter(|other| self.origin(*other).as_ref() == Some(&origin));
        match number_among(twins, id) {
            Some(number) => format!("{entry}{origin}#{number}"),
            None => format!("{entry}{origin}"),
        }
    }

    /// The shortest name that no other thread of the run has, for sentences: `visitor`, `visitor#2`, or the full one.
    pub fn short_thread(&self, id: ThreadId) -> String {
        let have_one_origin = self.namesakes(id).all(|other| self.origin(other) == self.origin(id));
        match number_among(self.namesakes(id), id) {
            None => self.entry(id).to_owned(),
            Some(number) if have_one_origin => format!("{}#{number}", self.entry(id)),
            Some(_) => self.thread(id),
        }
    }

    /// The threads that run the same function, in the order of their creation; the thread itself is one of them.
    fn namesakes(&self, id: ThreadId) -> impl Iterator<Item = ThreadId> {
        let entry = self.machine.thread(id).creation.entry;
        self.machine.threads().filter(move |other| other.creation.entry == entry).map(|other| other.id)
    }

    /// `@a.c:30` for a thread that was created there; empty without debug information, nothing for the first thread.
    fn origin(&self, id: ThreadId) -> Option<String> {
        let site = *self.machine.thread(id).creation.context.creation.last()?;
        let place = self.program.place_of(site);
        Some(place.map_or(String::new(), |place| format!("@{}:{}", base_name(&place.file), place.line)))
    }

    /// The part of an object that an access touches, and the whole object's name.
    pub fn part(&self, object: ObjectId, offset: u64, size: u64, access: Touch) -> (String, String) {
        match self.machine.memory.object(object).kind {
            ObjectKind::Global(global) | ObjectKind::ThreadLocal { global, .. } => {
                (describe_global_part(self.program, global, offset, size), self.program.globals[global].source_name.clone())
            }
            ObjectKind::Stack { site: made_at, .. } => match self.stack_variable(made_at) {
                Some(Variable { name, ty: Some(ty), .. }) => {
                    (format!("{name}{}", describe_type_part(self.program, *ty, offset, size)), name.clone())
                }
                Some(Variable { name, ty: None, .. }) => (name.clone(), name.clone()),
                None => {
                    let whole = format!("a local{}", self.at(Some(made_at)));
                    (self.expression(access, size).unwrap_or_else(|| whole.clone()), whole)
                }
            },
            ObjectKind::Heap { site: made_at, .. } => {
                let whole = format!("memory allocated{}", self.at(made_at));
                (self.expression(access, size).unwrap_or_else(|| whole.clone()), whole)
            }
            ObjectKind::Function(function) => (self.program.functions[function].source_name.clone(), "code".to_owned()),
            ObjectKind::Block(function, _) => (self.program.functions[function].source_name.clone(), "code".to_owned()),
            ObjectKind::Internal(what) => (what.to_owned(), what.to_owned()),
        }
    }

    /// A lock, a condition variable, a semaphore: by the object it is, or by how `site` names it.
    pub fn primitive(&self, key: SyncKey, site: Option<SiteId>) -> String {
        match key.object {
            Some(object) => without_insides(self.part(object, key.offset, 1, Touch { site, is_write: true }).0),
            None => format!("lock {:#x}", key.offset),
        }
    }

    pub fn held(&self, locks: &[HeldLock]) -> Vec<findings::HeldLock> {
        let name = |held: &HeldLock| findings::HeldLock {
            name: self.primitive(held.lock, held.site),
            taken_at: held.site.and_then(|site| self.program.place_of(site)),
        };
        locks.iter().map(name).collect()
    }

    /// The end of a finding at a site of a thread.
    pub fn end(
        &self,
        thread: ThreadId,
        role: Role,
        object: String,
        site: Option<SiteId>,
        calls: &[SiteId],
        locks: &[HeldLock],
    ) -> End {
        End {
            thread: self.thread(thread),
            role,
            object,
            place: site.and_then(|site| self.program.place_of(site)),
            function: site.map_or(String::new(), |site| self.function(site)),
            locks: self.held(locks),
            trace: self.trace(thread, calls),
            is_cut: false,
        }
    }

    /// The end of a finding where a thread that has not finished stands now.
    pub fn end_now(&self, thread: ThreadId, role: Role, object: String, site: Option<SiteId>) -> End {
        let calls = self.machine.thread(thread).context().calls;
        self.end(thread, role, object, site, &calls, self.machine.sync.held_by(thread))
    }

    /// The source function a site stands in.
    pub fn function(&self, site: SiteId) -> String {
        match self.program.location_of(site) {
            Some(location) => location.function.clone(),
            None => self.program.functions[self.program.sites[site].function].source_name.clone(),
        }
    }

    /// Creations, then calls, outermost first.
    fn trace(&self, thread: ThreadId, calls: &[SiteId]) -> Vec<TraceStep> {
        let step =
            |site: SiteId, event: String| TraceStep { place: self.program.place_of(site), function: self.function(site), event };
        let mut creations = Vec::new();
        let mut created = thread;
        while let (Some(creator), Some(site)) = self.creation(created) {
            creations.push(step(site, format!("create {}", self.entry(created))));
            created = creator;
        }
        let calls = calls.iter().map(|site| step(*site, format!("call {}", self.callee(*site))));
        creations.into_iter().rev().chain(calls).collect()
    }

    /// Who created a thread, and where.
    fn creation(&self, thread: ThreadId) -> (Option<ThreadId>, Option<SiteId>) {
        let creation = &self.machine.thread(thread).creation;
        (creation.creator, creation.context.creation.last().copied())
    }

    fn entry(&self, thread: ThreadId) -> &str {
        let entry = self.machine.thread(thread).creation.entry;
        entry.map_or("<unknown>", |entry| self.program.functions[entry].source_name.as_str())
    }

    /// The call at a site, in words: `pthread_mutex_lock(left)`.
    pub fn call(&self, site: SiteId) -> String {
        // An argument that is no variable's address (a thread handle, say) has no name worth showing.
        let argument = self
            .expression(Touch { site: Some(site), is_write: true }, 1)
            .filter(|name| !name.starts_with('*'))
            .map(without_insides);
        format!("{}({})", self.callee(site), argument.unwrap_or_default())
    }

    /// What the call at a site calls.
    fn callee(&self, site: SiteId) -> String {
        let call = self.instructions_at(site).find_map(|instruction| match &instruction.operation {
            Operation::Call { callee: Callee::Direct(function), .. } => {
                Some(self.program.functions[*function].source_name.clone())
            }
            Operation::Call { callee: Callee::Indirect(_), .. } => Some("a function pointer".to_owned()),
            _ => None,
        });
        call.unwrap_or_else(|| "a function".to_owned())
    }

    /// The C expression whose memory the instruction at a site touches, or its first pointer argument names.
    pub fn expression(&self, access: Touch, size: u64) -> Option<String> {
        let site = access.site?;
        let function = self.program.sites[site].function;
        let address = self.instructions_at(site).find_map(|instruction| address_of(instruction, access.is_write))?;
        describe_access(self.program, function, address, size)
    }

    /// Whether the instruction at a site reads, writes, or does something else.
    pub fn access_role(&self, site: Option<SiteId>) -> Role {
        let role = |instruction: &Instruction| match &instruction.operation {
            Operation::Load { .. } | Operation::MaskedLoad { .. } => Some(Role::Read),
            Operation::Store { .. }
            | Operation::MaskedStore { .. }
            | Operation::ReadModifyWrite { .. }
            | Operation::CompareExchange { .. }
            | Operation::SetMemory { .. } => Some(Role::Write),
            _ => None,
        };
        site.and_then(|site| self.instructions_at(site).find_map(role)).unwrap_or(Role::Fault)
    }

    fn instructions_at(&self, site: SiteId) -> impl Iterator<Item = &'a Instruction> {
        let function = &self.program.functions[self.program.sites[site].function];
        function.blocks.iter().flat_map(|block| block.instructions.iter()).filter(move |instruction| instruction.site == site)
    }

    /// The variable whose stack slot was made at a site.
    fn stack_variable(&self, site: SiteId) -> Option<&'a Variable> {
        let function = &self.program.functions[self.program.sites[site].function];
        let slot = self.instructions_at(site).find_map(|instruction| instruction.result)?;
        let binding = function.bindings.iter().find(|binding| binding.is_address && binding.value == Operand::Register(slot))?;
        Some(&self.program.variables[binding.variable])
    }

    fn at(&self, site: Option<SiteId>) -> String {
        site.and_then(|site| self.program.place_of(site))
            .map_or(String::new(), |Place { file, line, .. }| format!(" at {}:{line}", base_name(&file)))
    }
}

/// The address that an instruction accesses. Of a library call that reads it is not known which argument leads there.
fn address_of(instruction: &Instruction, is_write: bool) -> Option<Operand> {
    match &instruction.operation {
        Operation::Load { address, .. }
        | Operation::Store { address, .. }
        | Operation::ReadModifyWrite { address, .. }
        | Operation::CompareExchange { address, .. }
        | Operation::MaskedLoad { address, .. }
        | Operation::MaskedStore { address, .. } => Some(*address),
        Operation::CopyMemory { source, .. } if !is_write => Some(*source),
        Operation::CopyMemory { destination, .. } | Operation::SetMemory { destination, .. } => Some(*destination),
        Operation::Call { arguments, .. } if is_write => arguments.first().map(|argument| argument.value),
        _ => None,
    }
}

/// Which one of several a thread is, counted from 1; nothing when it is the only one.
fn number_among(threads: impl Iterator<Item = ThreadId>, id: ThreadId) -> Option<usize> {
    let threads: Vec<ThreadId> = threads.collect();
    let position = threads.iter().position(|thread| *thread == id)?;
    (threads.len() > 1).then_some(position + 1)
}

/// `lock` for `lock.__data.__lock`: names that begin with two underscores are the implementation's own.
pub fn without_insides(name: String) -> String {
    let end = name.find(".__").or_else(|| name.find("->__"));
    end.map_or(name.clone(), |end| name[..end].to_owned())
}

fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
