//! How the threads of the start come into being: `main`, and the barrier behind which locks are held from the start.

use super::body::{lower_creation, lower_lock};
use super::function::FunctionBuilder;
use super::{BARRIER_BYTES, HANDLE_BITS, Lowering};
use crate::program::{FunctionId, GlobalId, Operation, TerminatorKind, Type};
use crate::thread_model::{Position, ThreadIndex};

impl Lowering<'_> {
    pub(super) fn lower_start(&mut self) {
        let start: Vec<ThreadIndex> = self.model.start().collect();
        let position = self.model.threads[start[0]].position;
        let main = self.function("main".to_owned(), "main", &[], Type::integer(32), position);
        match start[..] {
            [only] => self.lower_single_start(main, only),
            _ => self.lower_many(main, &start),
        }
    }

    /// `main` is the one thread there is.
    fn lower_single_start(&mut self, main: FunctionId, thread: ThreadIndex) {
        let mut builder = FunctionBuilder::new(self, main);
        let model = builder.lowering.model;
        builder.new_site(model.threads[thread].position);
        for (lock, mode) in &model.threads[thread].holds {
            lower_lock(&mut builder, *lock, *mode, false);
        }
        let entry = builder.lowering.threads[thread];
        let null = builder.null();
        builder.call(entry, &[null]);
        leave(builder, model.threads[thread].position);
    }

    fn lower_many(&mut self, main: FunctionId, start: &[ThreadIndex]) {
        let model = self.model;
        let needs_barrier = model.threads.iter().any(|thread| !thread.holds.is_empty());
        let barrier = needs_barrier.then(|| {
            self.global("start.barrier".to_owned(), "barrier of the start", (BARRIER_BYTES, 8), Vec::new(), Position::default())
        });
        let entries: Vec<FunctionId> = start
            .iter()
            .map(|thread| barrier.map_or(self.threads[*thread], |barrier| self.lower_entry(*thread, barrier)))
            .collect();
        let mut builder = FunctionBuilder::new(self, main);
        let first = model.threads[start[0]].position;
        builder.new_site(first);
        if let Some(barrier) = barrier {
            let (address, null, count) = (builder.address(barrier), builder.null(), builder.constant(32, start.len() as u128));
            builder.call_library("pthread_barrier_init", &[address, null, count], Type::integer(32));
        }
        let count = builder.constant(64, 1);
        let mut handles = Vec::new();
        for _ in start {
            handles.push(
                builder
                    .value(Operation::StackAllocate { element_size: u64::from(HANDLE_BITS / 8), count, align: 8 }, Type::POINTER),
            );
        }
        for ((thread, entry), handle) in start.iter().zip(entries).zip(handles) {
            builder.new_site(model.threads[*thread].position);
            lower_creation(&mut builder, handle, entry);
        }
        leave(builder, first);
    }

    /// Takes what the thread holds at the start, waits for the others, and begins.
    fn lower_entry(&mut self, thread: ThreadIndex, barrier: GlobalId) -> FunctionId {
        let name = format!("{}.start", self.model.threads[thread].name);
        if let Some(known) = self.program.function_named(&format!("start.{name}")) {
            return known;
        }
        let position = self.model.threads[thread].position;
        let function =
            self.function(format!("start.{name}"), &self.model.threads[thread].name, &[Type::POINTER], Type::POINTER, position);
        let entry = self.threads[thread];
        let mut builder = FunctionBuilder::new(self, function);
        builder.new_site(position);
        let model = builder.lowering.model;
        for (lock, mode) in &model.threads[thread].holds {
            lower_lock(&mut builder, *lock, *mode, false);
        }
        let address = builder.address(barrier);
        builder.call_library("pthread_barrier_wait", &[address], Type::integer(32));
        let null = builder.null();
        builder.call(entry, &[null]);
        builder.end(TerminatorKind::Return(Some(null)));
        builder.finish();
        function
    }
}

/// The first thread ends, the others go on.
fn leave(mut builder: FunctionBuilder<'_, '_>, position: Position) {
    builder.new_site(position);
    let null = builder.null();
    builder.call_library("pthread_exit", &[null], Type::Void);
    builder.end(TerminatorKind::Unreachable);
    builder.finish();
}
