//! Instructions: a closed set of operations, each with one meaning for every stage.

use super::function::ByValue;
use super::{AliasTypeId, ConstantId, FunctionId, GlobalId, Intrinsic, RegisterId, SiteId, StructureId};

/// What an instruction works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operand {
    Register(RegisterId),
    Constant(ConstantId),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instruction {
    pub site: SiteId,
    /// Its type is the register's type.
    pub result: Option<RegisterId>,
    pub operation: Operation,
}

/// Scalars and, lane by lane, vectors, unless said otherwise.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    Binary {
        op: BinaryOp,
        flags: ArithmeticFlags,
        left: Operand,
        right: Operand,
    },
    /// Floating-point negation.
    Negate {
        value: Operand,
    },
    Compare {
        predicate: Predicate,
        left: Operand,
        right: Operand,
    },
    /// To the type of the result.
    Cast {
        kind: CastKind,
        value: Operand,
    },
    /// The condition is one bit, or a vector of bits.
    Select {
        condition: Operand,
        when_true: Operand,
        when_false: Operand,
    },
    /// `base + constant + Σ index·stride` in bytes; an index is sign-extended or truncated to pointer width.
    Offset {
        base: Operand,
        constant: i64,
        terms: Vec<OffsetTerm>,
        in_bounds: bool,
        /// The base is used as a pointer to a structure of this name: a member of it, or one of an array of them, is addressed.
        structure: Option<StructureId>,
        /// What is addressed. The machine does not look at it.
        target: OffsetTarget,
    },
    /// The part of an aggregate at a byte offset, as the type of the result.
    ExtractBytes {
        aggregate: Operand,
        offset: u64,
    },
    InsertBytes {
        aggregate: Operand,
        offset: u64,
        value: Operand,
    },
    ExtractLane {
        vector: Operand,
        lane: Operand,
    },
    InsertLane {
        vector: Operand,
        value: Operand,
        lane: Operand,
    },
    /// Lanes of `left` then `right`; `None` is poison.
    Shuffle {
        left: Operand,
        right: Operand,
        mask: Vec<Option<u32>>,
    },
    Freeze {
        value: Operand,
    },
    /// A pure function of its arguments.
    Intrinsic {
        function: Intrinsic,
        arguments: Vec<Operand>,
    },

    /// A new stack object of `element_size · count` bytes.
    StackAllocate {
        element_size: u64,
        count: Operand,
        align: u64,
    },
    StackSave,
    StackRestore {
        saved: Operand,
    },
    /// The object behind a stack address begins (its bytes are undef) or ends to live.
    LifetimeStart {
        address: Operand,
    },
    LifetimeEnd {
        address: Operand,
    },
    /// The running thread's instance of a thread-local global.
    ThreadLocalAddress {
        global: GlobalId,
    },
    Load {
        address: Operand,
        access: Access,
    },
    Store {
        address: Operand,
        value: Operand,
        access: Access,
    },
    /// The result is the old value.
    ReadModifyWrite {
        op: ReadModifyWriteOp,
        address: Operand,
        value: Operand,
        access: Access,
    },
    /// The result is an aggregate: the old value at offset 0, then the success bit in the byte after it,
    /// aligned as `success_offset` says.
    CompareExchange {
        address: Operand,
        expected: Operand,
        replacement: Operand,
        /// On success.
        access: Access,
        failure: Ordering,
        is_weak: bool,
        success_offset: u64,
    },
    Fence {
        ordering: Ordering,
        scope: Scope,
    },
    /// `memcpy`, or `memmove` when the ranges may overlap.
    CopyMemory {
        destination: Operand,
        source: Operand,
        size: Operand,
        may_overlap: bool,
        is_volatile: bool,
        /// An assignment of a structure: its parts keep their types.
        is_assignment: bool,
    },
    /// Every byte of the range becomes `byte` (an 8-bit value).
    SetMemory {
        destination: Operand,
        byte: Operand,
        size: Operand,
        is_volatile: bool,
    },
    /// Lanes whose mask bit is set. `address` is one pointer (consecutive lanes) or a vector of pointers (gather).
    MaskedLoad {
        address: Operand,
        mask: Operand,
        otherwise: Operand,
    },
    MaskedStore {
        address: Operand,
        mask: Operand,
        value: Operand,
    },

    Call {
        callee: Callee,
        arguments: Vec<Argument>,
        is_variadic: bool,
    },
    /// Outputs are unknown; an assumption stands at its site.
    InlineAssembly {
        text: String,
        arguments: Vec<Operand>,
        /// Its author says that it writes memory: a clobber of memory, or an output that lies there.
        may_store: bool,
    },
    VariadicStart {
        list: Operand,
    },
    VariadicCopy {
        to: Operand,
        from: Operand,
    },
    VariadicEnd {
        list: Operand,
    },
    /// The next variadic argument, as the type of the result (front ends that do not expand `va_arg`).
    VariadicNext {
        list: Operand,
    },
    /// The condition holds, says the compiler; otherwise behaviour is undefined.
    Assume {
        condition: Operand,
    },
    /// `__builtin_trap`, `__builtin_debugtrap`.
    Trap,
    /// The address of the current frame or its return address (`__builtin_frame_address`): opaque.
    FrameAddress,
    /// A cycle or wall-clock counter (`__builtin_readcyclecounter`): any value that does not decrease.
    CycleCounter,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OffsetTerm {
    pub index: Operand,
    pub stride: i64,
    /// The elements of the array that is indexed, where it lies inside a struct and other members follow it: C lets the index reach no
    /// further. The machine does not look at it.
    pub count: Option<u64>,
}

/// What an [`Operation::Offset`] addresses, as far as its types tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum OffsetTarget {
    /// Something in the array that the base points into, if it points into one.
    #[default]
    Moved,
    /// A member of a structure.
    Member,
    /// An element of an array that is a member of a structure: so many bytes of the array lie before the base and the constant, and behind them; C
    /// lets arithmetic reach no further (C17 6.5.6p8). A structure's last member may be longer than its type says: [`OffsetTarget::OPEN`].
    Array { before: u32, after: u32, element: u32 },
}

impl OffsetTarget {
    /// As many bytes as there are.
    pub const OPEN: u32 = 1 << 31;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Callee {
    Direct(FunctionId),
    Indirect(Operand),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Argument {
    pub value: Operand,
    /// The callee gets a copy of the bytes behind the pointer.
    pub by_value: Option<ByValue>,
}

/// How a memory access is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Access {
    /// `None` for a plain access.
    pub ordering: Option<Ordering>,
    pub scope: Scope,
    pub is_volatile: bool,
    pub align: u64,
    /// What C lets it touch; `None`: anything.
    pub alias: Option<AliasTypeId>,
}

impl Access {
    pub fn is_atomic(&self) -> bool {
        self.ordering.is_some()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ordering {
    /// Weaker than relaxed: no tearing, nothing else.
    Unordered,
    Relaxed,
    Acquire,
    Release,
    AcquireRelease,
    SequentiallyConsistent,
}

impl Ordering {
    pub fn acquires(self) -> bool {
        matches!(self, Self::Acquire | Self::AcquireRelease | Self::SequentiallyConsistent)
    }

    pub fn releases(self) -> bool {
        matches!(self, Self::Release | Self::AcquireRelease | Self::SequentiallyConsistent)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    System,
    /// Only signal handlers of the same thread: orders nothing between threads.
    SingleThread,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    Add,
    Subtract,
    Multiply,
    UnsignedDivide,
    SignedDivide,
    UnsignedRemainder,
    SignedRemainder,
    ShiftLeft,
    LogicalShiftRight,
    ArithmeticShiftRight,
    And,
    Or,
    Xor,
    FloatAdd,
    FloatSubtract,
    FloatMultiply,
    FloatDivide,
    FloatRemainder,
}

/// Promises of the compiler; when one is broken the result is poison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct ArithmeticFlags {
    pub no_signed_wrap: bool,
    pub no_unsigned_wrap: bool,
    pub exact: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Predicate {
    Integer(IntegerPredicate),
    Float(FloatPredicate),
}

/// Also for pointers, by address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IntegerPredicate {
    Equal,
    NotEqual,
    UnsignedGreater,
    UnsignedGreaterEqual,
    UnsignedLess,
    UnsignedLessEqual,
    SignedGreater,
    SignedGreaterEqual,
    SignedLess,
    SignedLessEqual,
}

/// True when the operands stand in one of these relations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FloatPredicate {
    pub equal: bool,
    pub greater: bool,
    pub less: bool,
    pub unordered: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CastKind {
    Truncate,
    ZeroExtend,
    SignExtend,
    FloatTruncate,
    FloatExtend,
    FloatToUnsigned,
    FloatToSigned,
    UnsignedToFloat,
    SignedToFloat,
    PointerToInteger,
    IntegerToPointer,
    /// The same bits as another type of the same size; vectors too.
    Bitcast,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReadModifyWriteOp {
    Exchange,
    Add,
    Subtract,
    And,
    Nand,
    Or,
    Xor,
    SignedMax,
    SignedMin,
    UnsignedMax,
    UnsignedMin,
    FloatAdd,
    FloatSubtract,
    FloatMax,
    FloatMin,
    /// Increment, wrapping to 0 past the operand.
    IncrementWrap,
    /// Decrement, wrapping to the operand below 0.
    DecrementWrap,
    ConditionalSubtract,
    SaturatingSubtract,
}
