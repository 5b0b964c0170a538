//! The words that effects are made of: classes and modes of locks, how long a call may wait, what its result says.

use serde::Deserialize;

use super::effect::ArgumentIndex;

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
    /// How many pointers stand between: 1 for the bytes that addresses behind the argument lead to (`writev`).
    pub hops: u8,
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
    /// Whenever some thread dispatches (`Dispatch`), with the arguments as they are.
    Dispatched,
}
