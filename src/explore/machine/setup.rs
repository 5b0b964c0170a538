//! A machine before its first step: globals with their bytes, addresses for functions and labels, the first thread.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use typed_index_collections::TiVec;

use crate::explore::builtins::stream::FILE_SIZE;
use crate::explore::evaluate::{self, Addresses};
use crate::explore::fault::Fault;
use crate::explore::happens_before::RaceDetector;
use crate::explore::memory::{Fill, Memory, ObjectKind};
use crate::explore::schedule::fingerprint;
use crate::explore::sync::{SyncEvent, SyncTable, ThreadId};
use crate::explore::value::{ObjectId, Pointer, Value};
use crate::models::BoundModels;
use crate::program::{BlockId, Constant, FunctionId, Global, GlobalId, Program, RelocationTarget, Type};

use super::native::Entry;
use super::prepared::{Prepared, callables, switches};
use super::thread::{Creation, Frame, FrameKind, NativeActivation, Thread};
use super::{Machine, RunOptions};

/// Why a program cannot be run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SetupError {
    #[error("the program has no function `{0}` to begin with")]
    NoEntry(String),
    #[error("the program has no global variable `{0}` that could be taken as atomic")]
    NoGlobal(String),
    #[error("the program's data does not fit the address space: {0:?}")]
    Data(Fault),
}

impl From<Fault> for SetupError {
    fn from(fault: Fault) -> Self {
        SetupError::Data(fault)
    }
}

impl<'p> Machine<'p> {
    /// A machine about to run the program's entry. Clone it to run again.
    pub fn new(program: &'p Program, models: &BoundModels<'_>, options: RunOptions) -> Result<Machine<'p>, SetupError> {
        let entry = program.function_named(&options.entry).filter(|id| program.functions[*id].is_defined());
        let entry = entry.ok_or_else(|| SetupError::NoEntry(options.entry.clone()))?;
        let mut memory = Memory::new(&program.layout);
        let mut prepared = Prepared {
            fingerprint: fingerprint(program),
            constants: TiVec::new(),
            callables: callables(program, models.as_ref()),
            functions: TiVec::new(),
            globals: TiVec::new(),
            blocks: BTreeMap::new(),
            unknown_globals: BTreeMap::new(),
            assumed_atomic: BTreeMap::new(),
            switches: HashMap::new(),
        };
        place_code(program, &mut memory, &mut prepared)?;
        for (id, global) in program.globals.iter_enumerated() {
            let place =
                if global.is_thread_local { None } else { Some(make_global(&mut memory, global, ObjectKind::Global(id))?) };
            prepared.globals.push(place);
        }
        prepared.constants = program.constants.iter().map(|(id, _)| evaluate::constant(program, id, &prepared)).collect();
        prepared.switches = switches(program, &prepared.constants);
        prepared.assumed_atomic = assumed_atomic(program, &prepared, &options.assume_atomic)?;
        let thread = Thread::new(ThreadId::MAIN, Creation { entry: Some(entry), ..Creation::default() });
        let mut machine = Machine {
            program,
            prepared: Arc::new(prepared),
            options: Arc::new(options),
            memory,
            hollow: Arc::new(Thread::new(ThreadId(u32::MAX), Creation::default())),
            threads: vec![Arc::new(thread)],
            sync: SyncTable::default(),
            detector: RaceDetector::default(),
            races: Vec::new(),
            misuses: Vec::new(),
            output: Vec::new(),
            error_output: Vec::new(),
            slots: BTreeMap::new(),
            library_objects: BTreeMap::new(),
            exit_handlers: Vec::new(),
            signal_handlers: BTreeMap::new(),
            // What no step will tell of holds for every run from its start.
            assumptions: program.assumptions.iter().filter(|met| met.kind.leaves_no_trace_in_runs()).cloned().collect(),
            assumed_sites: BTreeSet::new(),
            steps: 0,
            transitions: 0,
            yielded: BTreeSet::new(),
            end: None,
        };
        machine.fill_globals()?;
        machine.start(entry)?;
        machine.start_beside()?;
        Ok(machine)
    }

    /// The threads that call functions beside the entry: there from the start, ordered with nothing.
    fn start_beside(&mut self) -> Result<(), SetupError> {
        let options = self.options.clone();
        for name in &options.beside {
            let function = self.program.function_named(name).filter(|id| self.program.functions[*id].is_defined());
            let function = function.ok_or_else(|| SetupError::NoEntry(name.clone()))?;
            let id = self.sync.create_thread();
            self.detector.synchronize(&SyncEvent::Fork { parent: ThreadId::MAIN, child: id });
            let mut thread = Thread::new(id, Creation { entry: Some(function), ..Creation::default() });
            thread.frames.push(super::call::entry_frame(self.prepared.functions[function], None));
            self.threads.push(Arc::new(thread));
        }
        Ok(())
    }

    fn fill_globals(&mut self) -> Result<(), SetupError> {
        let prepared = self.prepared.clone();
        let mut unknown = BTreeMap::new();
        for (id, global) in self.program.globals.iter_enumerated() {
            let Some(place) = prepared.globals[id] else { continue };
            let object = place.object.expect("a global is an object");
            initialize(&mut self.memory, global, place, &*prepared)?;
            if global.is_external && !self.fill_library_global(&global.name, place)? {
                unknown.insert(object, id);
            }
            if global.is_constant {
                self.memory.make_read_only(object);
            }
        }
        drop(prepared);
        let prepared = Arc::get_mut(&mut self.prepared).expect("no clone of a machine that is being made");
        prepared.unknown_globals = unknown;
        Ok(())
    }

    /// A global of the C library gets the value it has there; whether it is one.
    fn fill_library_global(&mut self, name: &str, place: Pointer) -> Result<bool, SetupError> {
        let value = match name {
            "stdin" | "stdout" | "stderr" => Value::pointer(self.library_object(name, &[0; FILE_SIZE])?),
            // An empty list: a null pointer after no entries.
            "environ" | "__environ" | "_environ" => Value::pointer(self.library_object("environ", &[0; 8])?),
            "optind" | "opterr" => Value::integer(32, 1),
            "optopt" => Value::integer(32, u128::from(b'?')),
            "optarg" => Value::pointer(Pointer::NULL),
            "program_invocation_name" | "program_invocation_short_name" | "__progname" => {
                let mut text = self.options.arguments.first().cloned().unwrap_or_default().into_bytes();
                text.push(0);
                Value::pointer(self.library_object("the program's name", &text)?)
            }
            _ => return Ok(false),
        };
        self.memory.store(place, &value, value.type_of())?;
        Ok(true)
    }

    /// The first thread: constructors, then the entry with `argc`, `argv` and an empty environment.
    fn start(&mut self, entry: FunctionId) -> Result<(), SetupError> {
        let pointer_bytes = u64::from(self.program.layout.pointer_bytes);
        let arguments = self.options.arguments.clone();
        let vector_size = (arguments.len() as u64 + 1) * pointer_bytes;
        let vector = self.memory.allocate(ObjectKind::Internal("argv"), vector_size, 16, Fill::Zero)?;
        for (index, argument) in arguments.iter().enumerate() {
            let mut text = argument.clone().into_bytes();
            text.push(0);
            let string = self.memory.allocate(ObjectKind::Internal("argv"), text.len() as u64, 1, Fill::Zero)?;
            self.memory.write_bytes(string, &text)?;
            self.memory.mark_escaped(string.object.expect("an allocation has an object"));
            self.memory.store(vector.plus(index as u64 * pointer_bytes), &Value::pointer(string), Type::POINTER)?;
        }
        self.memory.mark_escaped(vector.object.expect("an allocation has an object"));
        let environment = self.library_object("environ", &[0; 8])?;
        let mut calls: Vec<(Pointer, Vec<Value>)> =
            self.program.constructors.iter().map(|function| (self.prepared.functions[*function], Vec::new())).collect();
        let arguments = vec![Value::integer(32, arguments.len() as u128), Value::pointer(vector), Value::pointer(environment)];
        calls.push((self.prepared.functions[entry], arguments));
        let kind = FrameKind::Native(NativeActivation { frame: Box::new(Entry::new(calls)), last: None });
        let thread = Arc::make_mut(&mut self.threads[0]);
        thread.frames.push(Frame { kind, call_site: None, result: None });
        Ok(())
    }
}

/// The objects of the globals with these names; a static variable may have its name several times.
fn assumed_atomic(program: &Program, prepared: &Prepared, names: &[String]) -> Result<BTreeMap<ObjectId, GlobalId>, SetupError> {
    let mut objects = BTreeMap::new();
    for name in names {
        let named = program.globals.iter_enumerated().filter(|(_, global)| global.source_name == *name || global.name == *name);
        let before = objects.len();
        objects.extend(named.filter_map(|(id, _)| Some((prepared.globals[id]?.object?, id))));
        if objects.len() == before {
            return Err(SetupError::NoGlobal(name.clone()));
        }
    }
    Ok(objects)
}

/// Addresses for functions and for the labels whose address is taken.
fn place_code(program: &Program, memory: &mut Memory, prepared: &mut Prepared) -> Result<(), Fault> {
    for id in program.functions.keys() {
        prepared.functions.push(memory.allocate(ObjectKind::Function(id), 16, 16, Fill::Undef)?);
    }
    let in_constants = program.constants.iter().filter_map(|(_, constant)| match constant {
        Constant::Block(function, block) => Some((*function, *block)),
        _ => None,
    });
    let in_data =
        program.globals.iter().flat_map(|global| &global.relocations).filter_map(|relocation| match relocation.target {
            RelocationTarget::Block(function, block) => Some((function, block)),
            RelocationTarget::Global(_) | RelocationTarget::Function(_) => None,
        });
    let labels: BTreeSet<(FunctionId, BlockId)> = in_constants.chain(in_data).collect();
    for (function, block) in labels {
        let place = memory.allocate(ObjectKind::Block(function, block), 1, 1, Fill::Undef)?;
        prepared.blocks.insert((function, block), place);
    }
    Ok(())
}

/// An object for a global or a thread's instance of one, all zero.
pub(super) fn make_global(memory: &mut Memory, global: &Global, kind: ObjectKind) -> Result<Pointer, Fault> {
    memory.allocate(kind, global.size, global.align, Fill::Zero)
}

/// Writes the initial bytes and addresses.
pub(super) fn initialize(memory: &mut Memory, global: &Global, place: Pointer, addresses: &impl Addresses) -> Result<(), Fault> {
    memory.write_bytes(place, &global.bytes)?;
    for relocation in &global.relocations {
        let target = match relocation.target {
            RelocationTarget::Global(target) => addresses.global(target),
            RelocationTarget::Function(function) => addresses.function(function),
            RelocationTarget::Block(function, block) => addresses.block(function, block),
        };
        let target = target.plus(relocation.addend as u64);
        memory.store(place.plus(relocation.offset), &Value::pointer(target), Type::POINTER)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::Models;
    use crate::program::text::parse;

    #[test]
    fn what_lowering_made_up_makes_every_run_uncertain() {
        let of = |kind: &str| {
            let main = "function @main \"main\" () returns i32 {\nb0:\n  return i32 0\n}\n";
            let program = parse(&format!("lockcheck program 1\nassumption {kind} \"x\"\n{main}")).expect("the text is valid");
            let machine =
                Machine::new(&program, &Models::default().bind(&program), RunOptions::default()).expect("it has a main");
            machine.assumptions().iter().any(|assumption| assumption.kind.makes_runs_uncertain())
        };
        assert!(of("unknown-instruction") && of("target-intrinsic"));
        assert!(!of("inline-assembly"), "the machine notes it when it is executed");
    }
}
