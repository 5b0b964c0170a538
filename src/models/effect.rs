//! What a library function does, as a closed set of effects that every stage matches exhaustively.
//!
//! Arguments are named by position, from 0. A [`FunctionModel`] is what one entry of `models/*.yaml` says.

use serde::Deserialize;

use super::builtin::Builtin;
use super::effect_parts::*;

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
    SetAttribute {
        object: ArgumentIndex,
        attribute: Attribute,
        value: ArgumentIndex,
    },
    /// Stores what was set, or the default, where `value` points to.
    GetAttribute {
        object: ArgumentIndex,
        attribute: Attribute,
        value: ArgumentIndex,
    },
    InitializeAttribute {
        object: ArgumentIndex,
    },

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
        /// How the caller learns that there is no new thread; `None`: it does not.
        result: Option<ResultConvention>,
    },
    Join {
        handle: ArgumentIndex,
        value: Option<ArgumentIndex>,
        #[serde(default)]
        returns: ThreadResult,
        #[serde(default)]
        attempt: Attempt,
    },
    Detach {
        handle: ArgumentIndex,
    },
    /// Ends the calling thread; from `main`'s thread the others go on.
    ExitThread {
        value: Option<ArgumentIndex>,
        #[serde(default)]
        returns: ThreadResult,
    },
    Cancel {
        handle: ArgumentIndex,
    },
    SetCancelState {
        state: ArgumentIndex,
        old: Option<ArgumentIndex>,
    },
    /// Deferred or asynchronous; the latter is not executed.
    SetCancelType {
        kind: ArgumentIndex,
        old: Option<ArgumentIndex>,
    },
    /// A point where a pending cancellation takes effect.
    CancellationPoint,
    PushCleanup {
        routine: ArgumentIndex,
        argument: ArgumentIndex,
    },
    PopCleanup {
        execute: ArgumentIndex,
    },
    /// The handler stands behind a `setjmp` of the caller, which returns 1 when the thread ends (`pthread_cleanup_push` of glibc).
    PushCleanupJump {
        buffer: ArgumentIndex,
    },
    PopCleanupJump {
        buffer: ArgumentIndex,
    },
    /// Such a handler has done its work: the thread goes on ending.
    ContinueExit,
    CurrentThread,
    EqualThreads {
        left: ArgumentIndex,
        right: ArgumentIndex,
    },
    Yield,
    /// Lets time pass: other threads may run as long as they like.
    Sleep,

    InitializeCondition {
        condition: ArgumentIndex,
    },
    DestroyCondition {
        condition: ArgumentIndex,
    },
    /// Releases the lock, waits, takes the lock again.
    Wait {
        condition: ArgumentIndex,
        lock: ArgumentIndex,
        #[serde(default)]
        attempt: Attempt,
        #[serde(default)]
        result: ResultConvention,
    },
    Signal {
        condition: ArgumentIndex,
        wakes: Wakes,
    },

    InitializeBarrier {
        barrier: ArgumentIndex,
        count: ArgumentIndex,
    },
    WaitBarrier {
        barrier: ArgumentIndex,
    },
    DestroyBarrier {
        barrier: ArgumentIndex,
    },

    /// Calls `routine` in the first thread that comes; the others wait for its end.
    Once {
        control: ArgumentIndex,
        routine: ArgumentIndex,
    },

    CreateKey {
        key: ArgumentIndex,
        destructor: Option<ArgumentIndex>,
    },
    DeleteKey {
        key: ArgumentIndex,
    },
    SetSpecific {
        key: ArgumentIndex,
        value: ArgumentIndex,
    },
    GetSpecific {
        key: ArgumentIndex,
    },

    InitializeSemaphore {
        semaphore: ArgumentIndex,
        value: ArgumentIndex,
    },
    WaitSemaphore {
        semaphore: ArgumentIndex,
        #[serde(default)]
        attempt: Attempt,
    },
    PostSemaphore {
        semaphore: ArgumentIndex,
    },
    ReadSemaphore {
        semaphore: ArgumentIndex,
        value: ArgumentIndex,
    },
    DestroySemaphore {
        semaphore: ArgumentIndex,
    },

    /// From here to the end no other thread runs (`__VERIFIER_atomic_begin`).
    BeginAtomic,
    EndAtomic,
    /// The whole body of the function is one such section (`__VERIFIER_atomic_*`).
    AtomicBody,

    /// A C11 fence as a function (`atomic_thread_fence`, `__sync_synchronize`).
    Fence {
        ordering: ArgumentIndexOrStrongest,
    },
    /// An atomic access by generic library call (`__atomic_load`, `__atomic_fetch_add_8`, …).
    Atomic(AtomicCall),

    /// A new heap object; null when the size says so or memory is out.
    Allocate {
        size: SizeSource,
        #[serde(default)]
        zeroed: bool,
        /// The library leaves addresses in it, of other parts of the same memory (`getaddrinfo`).
        #[serde(default)]
        is_linked: bool,
        align: Option<ArgumentIndex>,
        #[serde(default)]
        result: AllocationResult,
    },
    Reallocate {
        pointer: ArgumentIndex,
        size: SizeSource,
    },
    Free {
        pointer: ArgumentIndex,
    },
    Reads(Range),
    Writes(Range),
    /// Any value of the return type (`__VERIFIER_nondet_int`, `rand`).
    Choose,
    /// Any bytes in the range (`read`, `fread`).
    ChooseBytes(Range),
    /// The run is of interest only when the argument is not 0.
    Assume {
        condition: ArgumentIndex,
    },
    /// A failed assertion when the argument is 0.
    Assert {
        condition: ArgumentIndex,
    },
    /// A failed assertion (`reach_error`, `__assert_fail`).
    Fail,
    /// Ends the program with this exit code.
    Exit {
        code: ExitCode,
    },
    /// Calls back into the program.
    Callback {
        routine: ArgumentIndex,
        #[serde(default)]
        arguments: Vec<ArgumentIndex>,
        /// Before the call returns the routine gets addresses of elements, as large as this argument says, of the arrays at its arguments; without it, any addresses inside.
        #[serde(default)]
        element_size: Option<ArgumentIndex>,
        when: CallbackTime,
    },
    /// Calls the routines that were registered to be dispatched, any of them, any number of times (`event_base_loop`).
    Dispatch,
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
    SaveJump {
        buffer: ArgumentIndex,
    },
    /// Goes back to where `setjmp` returned, with this value, 1 for 0 (`longjmp`).
    Jump {
        buffer: ArgumentIndex,
        value: ArgumentIndex,
    },
    /// Something that is not executed may happen here: an assumption, unless this argument is 0 or null.
    Unmodelled {
        unless_zero: Option<ArgumentIndex>,
    },
    /// What it returns and writes is not computed: a run goes on with an answer that was made up, and rests on that.
    NotComputed,
    /// Returns memory that the function owns and writes anew in each call (`localtime`); what is stored there leads nowhere else.
    ReturnsOwnMemory,
    /// Uses something of the library's own that calls share (the seed of `rand`): two threads that do so at once race, unless both only look at it.
    HiddenState {
        /// Functions that share it say the same word.
        name: String,
        #[serde(default)]
        only_read: bool,
        /// POSIX lets calls race; glibc says that they do not.
        #[serde(default)]
        guarded: bool,
    },
    /// Returns one of its arguments.
    Returns {
        argument: ArgumentIndex,
    },
    /// Returns one of these numbers, by choice when there are several.
    ReturnsOneOf {
        values: Vec<i64>,
        /// The first one when this argument is 0.
        first_if_zero: Option<ArgumentIndex>,
    },
    /// Returns 0 for a string of fewer bytes than this, its final 0 not counted.
    ReturnsByLength {
        string: ArgumentIndex,
        below: u64,
        otherwise: i64,
    },
}
