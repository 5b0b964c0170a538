//! A model as a program: locks and variables are globals, procedures functions, steps calls of the modelled pthread functions.
//!
//! Every step is one site with the line of the model, so that reports speak of the model's lines.
//!
//! # Shape
//! - `main` creates the threads that exist at the start and leaves with `pthread_exit`; when there is only one, `main` is that thread.
//! - Threads that hold locks at the start take them, then all threads of the start meet at a barrier.
//! - `goto [N, M]` asks `__VERIFIER_nondet_bool`, `assume` calls `__VERIFIER_assume`.
//! - The handle of a spawned thread lies in a global; in a thread-local one when several threads could use it.
//! - `begin` and `end` of units leave nothing but their site.

mod body;
mod function;
mod joins;
mod start;

use std::collections::BTreeMap;

use super::{LockKind, Place, Position, ProcedureIndex, StepKind, ThreadIndex, ThreadModel};
use crate::program::{
    Constant, FileId, Function, FunctionId, Global, GlobalId, Operand, Parameter, Program, Register, RegisterId, SiteId,
    SourceFile, Type,
};

/// The bytes of glibc's types on x86-64, and where a mutex keeps its kind.
const MUTEX_BYTES: u64 = 40;
const MUTEX_KIND_OFFSET: usize = 16;
const RECURSIVE: u8 = 1;
const READ_WRITE_LOCK_BYTES: u64 = 56;
const BARRIER_BYTES: u64 = 32;
/// `pthread_t`.
const HANDLE_BITS: u32 = 64;

/// The program of a model, and what became of the model's parts.
#[derive(Clone, Debug)]
pub struct Lowered {
    pub program: Program,
    pub locks: Vec<GlobalId>,
    pub variables: Vec<GlobalId>,
    /// What is handed to `pthread_create` for each thread.
    pub threads: Vec<FunctionId>,
    pub procedures: Vec<FunctionId>,
    /// For each procedure the site of each step, and of the return at its end.
    pub sites: Vec<Vec<SiteId>>,
}

impl Lowered {
    /// The site where a thread that stands at a label stands.
    pub fn site_of(&self, model: &ThreadModel, place: &Place) -> SiteId {
        let (procedure, at) = model.place(place);
        self.sites[procedure][at]
    }
}

/// Lowers a model; `file` is the name that places in reports get.
pub fn lower(model: &ThreadModel, file: &str) -> Lowered {
    let mut lowering = Lowering::new(model, file);
    for procedure in 0..model.procedures.len() {
        lowering.lower_procedure(procedure);
    }
    lowering.lower_start();
    let Lowering { mut program, locks, variables, threads, procedures, sites, .. } = lowering;
    program.renumber_constants();
    Lowered { program, locks, variables, threads, procedures, sites }
}

struct Lowering<'m> {
    model: &'m ThreadModel,
    program: Program,
    file: FileId,
    locks: Vec<GlobalId>,
    variables: Vec<GlobalId>,
    threads: Vec<FunctionId>,
    procedures: Vec<FunctionId>,
    sites: Vec<Vec<SiteId>>,
    /// By spawning and spawned thread; shared procedures have no one thread and use thread-local ones.
    handles: BTreeMap<(Option<ThreadIndex>, ThreadIndex), GlobalId>,
    library: BTreeMap<&'static str, FunctionId>,
}

impl<'m> Lowering<'m> {
    fn new(model: &'m ThreadModel, file: &str) -> Self {
        let mut program = Program::default();
        let directory = std::env::current_dir().map_or(String::new(), |directory| directory.display().to_string());
        let file = program.files.push_and_get_key(SourceFile { name: file.to_owned(), directory });
        let mut lowering = Lowering {
            model,
            program,
            file,
            locks: Vec::new(),
            variables: Vec::new(),
            threads: Vec::new(),
            procedures: Vec::new(),
            sites: Vec::new(),
            handles: BTreeMap::new(),
            library: BTreeMap::new(),
        };
        for lock in &model.locks {
            let (size, bytes) = match lock.kind {
                LockKind::Mutex => (MUTEX_BYTES, Vec::new()),
                LockKind::Recursive => (MUTEX_BYTES, [vec![0; MUTEX_KIND_OFFSET], vec![RECURSIVE]].concat()),
                LockKind::ReadWrite => (READ_WRITE_LOCK_BYTES, Vec::new()),
            };
            let global = lowering.global(format!("lock.{}", lock.name), &lock.name, (size, 8), bytes, lock.position);
            lowering.locks.push(global);
        }
        for variable in &model.variables {
            let bytes = if variable.initial == 0 { Vec::new() } else { vec![variable.initial] };
            let global = lowering.global(format!("variable.{}", variable.name), &variable.name, (1, 1), bytes, variable.position);
            lowering.variables.push(global);
        }
        for procedure in 0..model.procedures.len() {
            let function = lowering.declare_procedure(procedure);
            lowering.procedures.push(function);
        }
        lowering.threads = model.threads.iter().map(|thread| lowering.procedures[thread.entry]).collect();
        lowering
    }

    fn global(
        &mut self,
        name: String,
        source_name: &str,
        (size, align): (u64, u64),
        bytes: Vec<u8>,
        position: Position,
    ) -> GlobalId {
        self.program.globals.push_and_get_key(Global {
            name,
            source_name: source_name.to_owned(),
            size,
            align,
            bytes,
            file: Some(self.file),
            line: position.line as u32,
            ..Global::default()
        })
    }

    /// A function that can begin a thread takes and returns a pointer, others nothing.
    fn is_entry(&self, procedure: ProcedureIndex) -> bool {
        self.model.threads.iter().any(|thread| thread.entry == procedure)
    }

    fn declare_procedure(&mut self, index: ProcedureIndex) -> FunctionId {
        let procedure = &self.model.procedures[index];
        let owner = procedure.thread.map_or("shared", |thread| self.model.threads[thread].name.as_str());
        let (parameters, result) =
            if self.is_entry(index) { (&[Type::POINTER][..], Type::POINTER) } else { (&[][..], Type::Void) };
        self.function(format!("{owner}.{}", procedure.name), &procedure.name, parameters, result, procedure.position)
    }

    fn function(
        &mut self,
        name: String,
        source_name: &str,
        parameters: &[Type],
        return_type: Type,
        position: Position,
    ) -> FunctionId {
        let parameter = |index: usize| Parameter { register: RegisterId::from(index), by_value: None };
        self.program.functions.push_and_get_key(Function {
            name,
            source_name: source_name.to_owned(),
            parameters: (0..parameters.len()).map(parameter).collect(),
            is_variadic: false,
            return_type,
            registers: parameters.iter().map(|ty| Register { ty: *ty }).collect(),
            blocks: Default::default(),
            bindings: Vec::new(),
            debug_type: None,
            file: Some(self.file),
            line: position.line as u32,
        })
    }

    /// A library function, declared at its first use.
    fn library(&mut self, name: &'static str, parameters: &[Type], return_type: Type) -> FunctionId {
        if let Some(known) = self.library.get(name) {
            return *known;
        }
        let function = self.function(name.to_owned(), name, parameters, return_type, Position::default());
        self.program.functions[function].file = None;
        self.library.insert(name, function);
        function
    }

    /// Where a procedure of `spawner` (`None`: a shared one) keeps the handle of a thread.
    fn handle(&mut self, spawner: Option<ThreadIndex>, thread: ThreadIndex) -> GlobalId {
        let spawns = |step: &super::Step, index: ThreadIndex| step.kind == StepKind::Spawn { thread: index };
        let is_spawned = |index: ThreadIndex| {
            self.model.procedures.iter().flat_map(|procedure| &procedure.steps).any(|step| spawns(step, index))
        };
        // A shared procedure and the thread's own must find the same handle: if any of them is shared, all are thread-local.
        let is_shared = |index: ThreadIndex| {
            let shared = self.model.procedures.iter().filter(|procedure| procedure.thread.is_none());
            shared
                .flat_map(|procedure| &procedure.steps)
                .any(|step| matches!(step.kind, StepKind::Spawn { thread } | StepKind::Join { thread } if thread == index))
        };
        let single =
            spawner.filter(|spawner| self.model.threads[*spawner].instances == 1 && !is_spawned(*spawner) && !is_shared(thread));
        if let Some(known) = self.handles.get(&(single, thread)) {
            return *known;
        }
        let name = &self.model.threads[thread].name;
        let owner = single.map_or("own", |spawner| self.model.threads[spawner].name.as_str());
        let (link_name, source_name) = (format!("handle.{owner}.{name}"), format!("handle of {name}"));
        let global = self.global(link_name, &source_name, (u64::from(HANDLE_BITS / 8), 8), Vec::new(), Position::default());
        self.program.globals[global].is_thread_local = single.is_none();
        self.handles.insert((single, thread), global);
        global
    }

    fn constant(&mut self, constant: Constant) -> Operand {
        Operand::Constant(self.program.constants.intern(constant))
    }
}
