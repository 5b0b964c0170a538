//! Abstract objects: what run-time objects are called when no run is at hand.

use super::origin::Origin;
use crate::program::describe::{resolve, size_of};
use crate::program::index::*;
use crate::program::{DebugTypeKind, Program, RegisterId, SiteId};
use smallvec::SmallVec;

/// A number in the table of abstract objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AbstractObjectId(pub(super) u32);

impl AbstractObjectId {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The call sites that led to an allocation through its wrappers, innermost first; empty when the allocating function is no wrapper.
pub type Callers = SmallVec<[SiteId; 2]>;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AbstractObjectKind {
    /// Memory that code outside the program may hold, the program's own escaped objects among it.
    Unknown,
    /// No object but a mark: a number that was computed from addresses, from which an address may be computed back.
    Residue,
    Global(GlobalId),
    /// The instances of a thread-local global, of all threads.
    ThreadLocal(GlobalId),
    /// The stack objects that one instruction makes, in threads of one origin; by callers where the function is given functions (`context`).
    StackSlot {
        function: FunctionId,
        register: RegisterId,
        site: SiteId,
        callers: Callers,
        origin: Origin,
    },
    /// The copies of a parameter that is passed by value.
    ByValueCopy {
        function: FunctionId,
        parameter: usize,
    },
    /// Where a function's variadic arguments lie.
    VariadicArea(FunctionId),
    /// The heap objects that one call allocates, in threads of one origin.
    Heap {
        site: SiteId,
        callers: Callers,
        origin: Origin,
    },
    Function(FunctionId),
    Label(FunctionId, BlockId),
    /// A key of thread-specific data, by the call that created it; its content is what threads keep under it.
    Key(SiteId),
    /// Memory that a library function owns and hands out (`errno`, `getenv`, …).
    Library(FunctionId),
    /// `argv`, its strings, the environment.
    Arguments,
    /// All constant texts of a program that has many.
    Texts,
    /// No object, and in no set: the bytes on their way from all sources of one copy of memory to all its destinations.
    Transfer(u32),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AbstractObject {
    pub kind: AbstractObjectKind,
    /// In bytes; `None` when instances differ or it is not known.
    pub size: Option<u64>,
    /// Of every instance's address.
    pub align: u64,
    /// What it is declared, or allocated, as.
    pub ty: Option<DebugTypeId>,
    /// The size of the elements when it is declared as an array.
    pub element: Option<u64>,
}

impl AbstractObject {
    pub fn new(kind: AbstractObjectKind) -> AbstractObject {
        // Code has an address, and nothing behind it.
        let is_code = matches!(kind, AbstractObjectKind::Function(_) | AbstractObjectKind::Label(..));
        AbstractObject { kind, size: is_code.then_some(0), align: 1, ty: None, element: None }
    }

    pub fn declared(
        program: &Program,
        kind: AbstractObjectKind,
        size: Option<u64>,
        align: u64,
        ty: Option<DebugTypeId>,
    ) -> AbstractObject {
        AbstractObject { kind, size, align, ty, element: element_size(program, ty) }
    }

    pub fn of_global(program: &Program, global: GlobalId) -> AbstractObject {
        let variable = &program.globals[global];
        let kind =
            if variable.is_thread_local { AbstractObjectKind::ThreadLocal(global) } else { AbstractObjectKind::Global(global) };
        // The size of what is declared only (`extern int table[];`) is a guess.
        let size = if variable.is_external { None } else { Some(variable.size) };
        AbstractObject::declared(program, kind, size, variable.align.max(1), variable.debug_type)
    }

    /// Whether its declaration says what types its bytes have, or may do so. Memory that was allocated has the types that are stored in it.
    pub fn has_declared_type(&self) -> bool {
        !matches!(self.kind, AbstractObjectKind::Heap { .. } | AbstractObjectKind::Transfer(_))
    }

    /// Whether it is declared as an array of single bytes: no address is read there as it is, and what is copied through it stays what it was.
    pub fn is_of_bytes(&self) -> bool {
        self.element == Some(1)
    }

    /// Has an address but no bytes that a program reads or writes.
    pub fn is_code(&self) -> bool {
        matches!(self.kind, AbstractObjectKind::Function(_) | AbstractObjectKind::Label(..))
    }
}

/// The size of an array type's elements, typedefs and qualifiers looked through.
fn element_size(program: &Program, ty: Option<DebugTypeId>) -> Option<u64> {
    match resolve(program, ty?)?.1.kind {
        DebugTypeKind::Array { element: Some(element), .. } => Some(size_of(program, element)).filter(|size| *size > 0),
        _ => None,
    }
}
