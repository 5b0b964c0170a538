//! What a library function does, as a closed set of effects that every stage matches exhaustively.
//!
//! Arguments are named by position, from 0. A [`FunctionModel`] is what one entry of `models/*.yaml` says.

use serde::Deserialize;

use super::builtin::Builtin;

/// The position of an argument in a call.
pub type ArgumentIndex = usize;

/// One library function: everything the analyses and the machine know of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionModel {
    pub name: String,
    /// In the order they happen.
    pub effects: Vec<Effect>,
    /// What the machine executes; `None` when the effects say it all.
    pub builtin: Option<Builtin>,
    /// A user's entry: it also replaces a function that has a body.
    pub is_override: bool,
}

#[derive(Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Effect {
    /// Takes a lock; blocks unless it only tries.
    Acquire {
        lock: ArgumentIndex,
        #[serde(default)]
        class: LockClass,
        #[serde(default)]
        mode: LockMode,
        #[serde(default)]
        attempt: Attempt,
        #[serde(default)]
        result: ResultConvention,
    },
    Release {
        lock: ArgumentIndex,
        #[serde(default)]
        class: LockClass,
    },
    InitializeLock {
        lock: ArgumentIndex,
        #[serde(default)]
        class: LockClass,
        #[serde(default)]
        kind: LockKindSource,
    },
    DestroyLock {
        lock: ArgumentIndex,
        #[serde(default)]
        class: LockClass,
    },
    /// Sets a field of an attribute object (`pthread_mutexattr_settype`, `pthread_rwlockattr_setkind_np`, …).
    SetAttribute { object: ArgumentIndex, attribute: Attribute, value: ArgumentIndex },
    /// Stores what was set, or the default, where `value` points to.
    GetAttribute { object: ArgumentIndex, attribute: Attribute, value: ArgumentIndex },
    InitializeAttribute { object: ArgumentIndex },

    Spawn {
        entry: ArgumentIndex,
        argument: Option<ArgumentIndex>,
        /// Where the new thread's handle is stored.
        handle: Option<ArgumentIndex>,
        /// A thread attribute object, for the detach state.
        attributes: Option<ArgumentIndex>,
        #[serde(default)]
        count: SpawnCount,
        /// What the entry returns: a pointer (pthread) or an int (C11).
        #[serde(default)]
        returns: ThreadResult,
    },
    Join {
        handle: ArgumentIndex,
        value: Option<ArgumentIndex>,
        #[serde(default)]
        returns: ThreadResult,
        #[serde(default)]
        attempt: Attempt,
    },
    Detach { handle: ArgumentIndex },
    /// Ends the calling thread; from `main`'s thread the others go on.
    ExitThread {
        value: Option<ArgumentIndex>,
        #[serde(default)]
        returns: ThreadResult,
    },
    Cancel { handle: ArgumentIndex },
    SetCancelState { state: ArgumentIndex, old: Option<ArgumentIndex> },
    /// Deferred or asynchronous; the latter is not executed.
    SetCancelType { kind: ArgumentIndex, old: Option<ArgumentIndex> },
    /// A point where a pending cancellation takes effect.
    CancellationPoint,
    PushCleanup { routine: ArgumentIndex, argument: ArgumentIndex },
    PopCleanup { execute: ArgumentIndex },
    /// The handler stands behind a `setjmp` of the caller, which returns 1 when the thread ends (`pthread_cleanup_push` of glibc).
    PushCleanupJump { buffer: ArgumentIndex },
    PopCleanupJump { buffer: ArgumentIndex },
    /// Such a handler has done its work: the thread goes on ending.
    ContinueExit,
    CurrentThread,
    EqualThreads { left: ArgumentIndex, right: ArgumentIndex },
    Yield,
    /// Lets time pass: other threads may run as long as they like.
    Sleep,

    InitializeCondition { condition: ArgumentIndex },
    DestroyCondition { condition: ArgumentIndex },
    /// Releases the lock, waits, takes the lock again.
    Wait {
        condition: ArgumentIndex,
        lock: ArgumentIndex,
        #[serde(default)]
        attempt: Attempt,
        #[serde(default)]
        result: ResultConvention,
    },
    Signal { condition: ArgumentIndex, wakes: Wakes },

    InitializeBarrier { barrier: ArgumentIndex, count: ArgumentIndex },
    WaitBarrier { barrier: ArgumentIndex },
    DestroyBarrier { barrier: ArgumentIndex },

    /// Calls `routine` in the first thread that comes; the others wait for its end.
    Once { control: ArgumentIndex, routine: ArgumentIndex },

    CreateKey { key: ArgumentIndex, destructor: Option<ArgumentIndex> },
    DeleteKey { key: ArgumentIndex },
    SetSpecific { key: ArgumentIndex, value: ArgumentIndex },
    GetSpecific { key: ArgumentIndex },

    InitializeSemaphore { semaphore: ArgumentIndex, value: ArgumentIndex },
    WaitSemaphore {
        semaphore: ArgumentIndex,
        #[serde(default)]
        attempt: Attempt,
    },
    PostSemaphore { semaphore: ArgumentIndex },
    ReadSemaphore { semaphore: ArgumentIndex, value: ArgumentIndex },
    DestroySemaphore { semaphore: ArgumentIndex },

    /// From here to the end no other thread runs (`__VERIFIER_atomic_begin`).
    BeginAtomic,
    EndAtomic,
    /// The whole body of the function is one such section (`__VERIFIER_atomic_*`).
    AtomicBody,

    /// A C11 fence as a function (`atomic_thread_fence`, `__sync_synchronize`).
    Fence { ordering: ArgumentIndexOrStrongest },
    /// An atomic access by generic library call (`__atomic_load`, `__atomic_fetch_add_8`, …).
    Atomic(AtomicCall),

    /// A new heap object; null when the size says so or memory is out.
    Allocate {
        size: SizeSource,
        #[serde(default)]
        zeroed: bool,
        align: Option<ArgumentIndex>,
        #[serde(default)]
        result: AllocationResult,
    },
    Reallocate { pointer: ArgumentIndex, size: SizeSource },
    Free { pointer: ArgumentIndex },
    Reads(Range),
    Writes(Range),
    /// Any value of the return type (`__VERIFIER_nondet_int`, `rand`).
    Choose,
    /// Any bytes in the range (`read`, `fread`).
    ChooseBytes(Range),
    /// The run is of interest only when the argument is not 0.
    Assume { condition: ArgumentIndex },
    /// A failed assertion when the argument is 0.
    Assert { condition: ArgumentIndex },
    /// A failed assertion (`reach_error`, `__assert_fail`).
    Fail,
    /// Ends the program with this exit code.
    Exit { code: ExitCode },
    /// Calls back into the program.
    Callback {
        routine: ArgumentIndex,
        #[serde(default)]
        arguments: Vec<ArgumentIndex>,
        when: CallbackTime,
    },
    /// Installs a signal handler.
    InstallHandler {
        handler: ArgumentIndex,
        /// The signal's number: what was installed for it before is returned or stored.
        signal: Option<ArgumentIndex>,
        /// The handler is the first field of a structure; null installs nothing (`sigaction`).
        #[serde(default)]
        in_structure: bool,
        /// Where the structure that was installed before is stored.
        old: Option<ArgumentIndex>,
    },
    /// Remembers where the caller stands; returns 0 now, and once more for each jump (`setjmp`).
    SaveJump { buffer: ArgumentIndex },
    /// Goes back to where `setjmp` returned, with this value, 1 for 0 (`longjmp`).
    Jump { buffer: ArgumentIndex, value: ArgumentIndex },
    /// Something that is not executed may happen here: an assumption, unless this argument is 0 or null.
    Unmodelled { unless_zero: Option<ArgumentIndex> },
    /// Returns one of its arguments.
    Returns { argument: ArgumentIndex },
    /// Returns one of these numbers, by choice when there are several.
    ReturnsOneOf {
        values: Vec<i64>,
        /// The first one when this argument is 0.
        first_if_zero: Option<ArgumentIndex>,
    },
    /// Returns 0 for a string of fewer bytes than this, its final 0 not counted.
    ReturnsByLength { string: ArgumentIndex, below: u64, otherwise: i64 },
}

#[derive(Deserialize, Default, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum LockClass {
    Mutex,
    ReadWrite,
    Spin,
    /// A lock of the user's own, by its address.
    #[default]
    Custom,
}

#[derive(Deserialize, Default, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum LockMode {
    #[default]
    Exclusive,
    Shared,
}

/// Whether a blocking operation may give up.
#[derive(Deserialize, Default, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Attempt {
    #[default]
    Blocking,
    /// Returns at once.
    Try,
    /// Returns when a deadline has passed; any wait may end that way.
    Timed,
}

/// How a caller learns that it worked.
#[derive(Default, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ResultConvention {
    /// 0, or an error number (pthread).
    #[default]
    ZeroIsSuccess,
    /// Not 0.
    NonzeroIsSuccess,
    /// This value.
    ValueIsSuccess(i64),
    /// 0, or -1 with `errno` (POSIX semaphores).
    MinusOneIsFailure,
    /// `thrd_success`, `thrd_busy`, `thrd_timedout`, `thrd_error` (C11).
    ThreadStatus,
    /// Nothing is returned: it always works.
    Always,
}

/// Where the kind of a lock (normal, recursive, error-checking) comes from.
#[derive(Deserialize, Default, Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum LockKindSource {
    /// The default kind.
    #[default]
    Default,
    /// An attribute object, or null for the default.
    Attributes(ArgumentIndex),
    /// C11 `mtx_init`: a sum of `mtx_plain`, `mtx_timed`, `mtx_recursive`.
    TypeFlags(ArgumentIndex),
}

#[derive(Deserialize, Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Attribute {
    MutexType,
    ReadWritePreference,
    DetachState,
    /// What happens to a mutex whose owner ends: only "nothing" is executed.
    Robustness,
    /// In bytes; has no influence on what is checked, as all below.
    StackSize,
    GuardSize,
    Protocol,
    ProcessShared,
    Clock,
    SchedulingPolicy,
    SchedulingInheritance,
    SchedulingScope,
    /// Never read back by a known function.
    Other,
}

#[derive(Deserialize, Default, Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum SpawnCount {
    #[default]
    One,
    /// Any number of threads (a thread pool).
    Many,
}

#[derive(Deserialize, Default, Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ThreadResult {
    #[default]
    Pointer,
    Integer,
}

#[derive(Deserialize, Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Wakes {
    One,
    All,
}

#[derive(Deserialize, Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ArgumentIndexOrStrongest {
    Argument(ArgumentIndex),
    SequentiallyConsistent,
}

/// `__atomic_*` and `__sync_*` as library calls. Sizes are bytes.
#[derive(Deserialize, Clone, Debug, PartialEq, Eq, Hash)]
#[serde(deny_unknown_fields)]
pub struct AtomicCall {
    pub operation: AtomicOperation,
    pub size: SizeSource,
    pub object: ArgumentIndex,
    /// The operand: by value, or behind a pointer in the generic forms.
    pub operand: Option<ArgumentIndex>,
    /// Where the generic forms store the old value.
    pub output: Option<ArgumentIndex>,
    /// `memory_order` arguments: success, failure.
    #[serde(default)]
    pub orderings: Vec<ArgumentIndex>,
    #[serde(default)]
    pub operands_are_pointers: bool,
}

#[derive(Deserialize, Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum AtomicOperation {
    Load,
    Store,
    Exchange,
    CompareExchange,
    FetchAdd,
    FetchSubtract,
    FetchAnd,
    FetchOr,
    FetchXor,
    FetchNand,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SizeSource {
    Constant(u64),
    Argument(ArgumentIndex),
    /// `calloc`, `reallocarray`, `fread`.
    Product(ArgumentIndex, ArgumentIndex),
    /// The length of the string at this argument, with its final 0 (`strdup`).
    String(ArgumentIndex),
    /// Unknown: to the end of the object.
    Unknown,
}

#[derive(Deserialize, Default, Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum AllocationResult {
    #[default]
    Returned,
    /// Stored behind this argument; 0 is returned (`posix_memalign`).
    StoredAt(ArgumentIndex),
}

/// Bytes behind a pointer argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Range {
    pub argument: ArgumentIndex,
    pub size: SizeSource,
}

#[derive(Deserialize, Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ExitCode {
    Argument(ArgumentIndex),
    /// Killed by SIGABRT.
    Abort,
    /// `_exit`, `_Exit`, `quick_exit`: no destructors, no flush.
    Immediate(ArgumentIndex),
}

#[derive(Deserialize, Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum CallbackTime {
    /// Before this call returns, any number of times.
    During,
    /// When the program exits.
    AtExit,
}
