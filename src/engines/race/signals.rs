//! Signals: objects that a signal handler and the thread that it interrupts may both touch.
//!
//! # Definition   A place is *signal-atomic* when its declared type is `sig_atomic_t`, and an access to it is when it is volatile and touches the whole of it.
//! # Theorem      Two signal-atomic accesses, one of them in a handler, are no race: C lets a handler assign to such objects (C17 7.14.1.1p5), and the
//!                thread that was interrupted finds them whole (5.1.2.3p5).
//! # Deviations   C does not speak of handlers in a program with threads; POSIX permits the same assignments there (2.4.3), whichever thread was
//!                interrupted. Two accesses by ordinary threads stay a race.

use crate::facts::{AbstractObjectKind, Facts, Location, MemoryAccess, Offset, ThreadId, ThreadKind};
use crate::program::describe::size_of;
use crate::program::{DebugTypeId, DebugTypeKind, FunctionId, Program};

const NAME: &str = "sig_atomic_t";

pub fn is_handler(facts: &Facts<'_>, thread: ThreadId) -> bool {
    facts.threads.thread(thread).kind == ThreadKind::Handler
}

pub fn has_handlers(facts: &Facts<'_>) -> bool {
    facts.threads.threads().any(|(thread, _)| is_handler(facts, thread))
}

/// Whether all that an access may touch are objects that handlers may touch.
pub fn is_signal_atomic(program: &Program, facts: &Facts<'_>, function: FunctionId, access: &MemoryAccess) -> bool {
    let Some(size) = access.size.filter(|_| access.is_volatile) else { return false };
    let locations = access.locations(&facts.points_to, &facts.call_graph, &program.layout, function);
    let is_one = |location: &Location| match (&facts.points_to.object(location.object).kind, location.offset) {
        (AbstractObjectKind::Global(global), Offset::At(at)) => {
            program.globals[*global].debug_type.is_some_and(|ty| is_declared_so(program, ty, at, size))
        }
        _ => false,
    };
    !locations.is_empty() && locations.iter().all(is_one)
}

/// Whether these bytes of a value are one member of that type.
fn is_declared_so(program: &Program, ty: DebugTypeId, at: u64, size: u64) -> bool {
    let known = &program.debug_types[ty];
    match &known.kind {
        DebugTypeKind::Alias { name, of } => {
            let is_whole = at == 0 && size_of(program, ty) == size;
            name == NAME && is_whole || name != NAME && of.is_some_and(|of| is_declared_so(program, of, at, size))
        }
        DebugTypeKind::Struct { fields, .. } => {
            let field = fields.iter().rev().find(|field| field.offset_bits % 8 == 0 && field.offset_bits / 8 <= at);
            field.is_some_and(|field| {
                field.ty.is_some_and(|ty| is_declared_so(program, ty, at - field.offset_bits / 8, size))
                    && field.size_bits % 8 == 0
            })
        }
        DebugTypeKind::Array { element: Some(element), .. } => {
            let step = size_of(program, *element);
            step > 0 && is_declared_so(program, *element, at % step, size)
        }
        DebugTypeKind::Base { .. }
        | DebugTypeKind::Pointer { .. }
        | DebugTypeKind::Union { .. }
        | DebugTypeKind::Array { element: None, .. }
        | DebugTypeKind::Function { .. } => false,
    }
}
