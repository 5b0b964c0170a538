//! Assumptions: what the tool took for granted where it could not know, as data that verdicts carry.

use std::fmt;

/// A place in the source, ready to print.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    pub file: String,
    pub line: u32,
    pub column: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// Something that was assumed. A verdict that rests on it says so.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Assumption {
    pub kind: AssumptionKind,
    /// The name of the function, the text of the assembly, …
    pub what: String,
    pub place: Option<Place>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AssumptionKind {
    /// A function without a body and without a model: assumed to touch nothing the program can see.
    ExternalFunction,
    /// Inline assembly: assumed to touch only its outputs.
    InlineAssembly,
    /// An instruction of one processor family that is not executed exactly.
    TargetIntrinsic,
    /// A construct of LLVM that lowering does not know.
    UnknownInstruction,
    /// A symbol resolved at load time.
    IndirectFunction,
    /// A signal handler is installed: its runs are not explored.
    SignalHandler,
    /// A call that could be left by an exception (C++, `-fexceptions`).
    NonLocalJump,
    /// The bitcode was optimised: accesses of the source, and races with them, may be gone.
    OptimizedBitcode,
    /// The input carries no debug information: names and lines are missing.
    NoDebugInformation,
    /// An object of a built program carries no bitcode: assumed to start no thread, to touch nothing by itself, and to replace no function.
    MissingBitcode,
    /// A global defined elsewhere: its initial value is unknown.
    ExternalGlobal,
    /// `volatile` was taken as atomic on request.
    VolatileAsAtomic,
    /// A global was taken as atomic on request.
    AssumedAtomic,
    /// An address may be computed from others in a way that is not followed (differences, products, single bytes): assumed to be none.
    ComputedAddress,
    /// Bytes with an address in them are copied, as many as the program computes, into something declared with other pointers: assumed to stay what
    /// they were.
    RetypedCopy,
    /// Memory is allocated with the size of a structure and used as one: assumed to hold nothing else.
    TypedAllocation,
    /// A pointer may point to very many places, as far as the analysis can tell: assumed to point to what its type says.
    TypedPointer,
    /// Something that a known library function may do and that is not executed: robust mutexes, signals that are sent, …
    PartialModel,
    /// A known library function whose answer is not computed: a run made one up, and tried no other.
    NotComputed,
    /// Standard input was taken as empty: other inputs were not tried.
    StandardInput,
    /// What a file holds was chosen byte by byte: what the program itself wrote to it is not remembered.
    FileContent,
}

impl AssumptionKind {
    pub const ALL: [AssumptionKind; 21] = [
        Self::ExternalFunction,
        Self::InlineAssembly,
        Self::TargetIntrinsic,
        Self::UnknownInstruction,
        Self::IndirectFunction,
        Self::SignalHandler,
        Self::NonLocalJump,
        Self::OptimizedBitcode,
        Self::NoDebugInformation,
        Self::MissingBitcode,
        Self::ExternalGlobal,
        Self::VolatileAsAtomic,
        Self::AssumedAtomic,
        Self::ComputedAddress,
        Self::RetypedCopy,
        Self::TypedAllocation,
        Self::TypedPointer,
        Self::PartialModel,
        Self::NotComputed,
        Self::StandardInput,
        Self::FileContent,
    ];

    /// The word used in JSON and in the text form.
    pub fn name(self) -> &'static str {
        match self {
            Self::ExternalFunction => "external-function",
            Self::InlineAssembly => "inline-assembly",
            Self::TargetIntrinsic => "target-intrinsic",
            Self::UnknownInstruction => "unknown-instruction",
            Self::IndirectFunction => "indirect-function",
            Self::SignalHandler => "signal-handler",
            Self::NonLocalJump => "non-local-jump",
            Self::OptimizedBitcode => "optimized-bitcode",
            Self::NoDebugInformation => "no-debug-information",
            Self::MissingBitcode => "missing-bitcode",
            Self::ExternalGlobal => "external-global",
            Self::VolatileAsAtomic => "volatile-as-atomic",
            Self::AssumedAtomic => "assumed-atomic",
            Self::ComputedAddress => "computed-address",
            Self::RetypedCopy => "retyped-copy",
            Self::TypedAllocation => "typed-allocation",
            Self::TypedPointer => "typed-pointer",
            Self::PartialModel => "partial-model",
            Self::NotComputed => "not-computed",
            Self::StandardInput => "standard-input",
            Self::FileContent => "file-content",
        }
    }

    /// Whether a run that met it may have gone another way than the real program: it confirms nothing.
    pub fn makes_runs_uncertain(self) -> bool {
        match self {
            Self::ExternalFunction
            | Self::InlineAssembly
            | Self::TargetIntrinsic
            | Self::UnknownInstruction
            | Self::IndirectFunction
            | Self::NonLocalJump
            | Self::MissingBitcode
            | Self::ExternalGlobal
            | Self::PartialModel
            | Self::NotComputed
            | Self::FileContent => true,
            // An empty input is a real one.
            Self::StandardInput
            | Self::SignalHandler
            | Self::OptimizedBitcode
            | Self::NoDebugInformation
            | Self::VolatileAsAtomic
            | Self::ComputedAddress
            | Self::RetypedCopy
            | Self::TypedAllocation
            | Self::TypedPointer
            | Self::AssumedAtomic => false,
        }
    }

    /// Whether a run that comes past it looks like any other: lowering made something up or left it out, and nothing tells when that
    /// is executed.
    pub fn leaves_no_trace_in_runs(self) -> bool {
        match self {
            Self::UnknownInstruction
            | Self::TargetIntrinsic
            | Self::IndirectFunction
            | Self::NonLocalJump
            | Self::MissingBitcode => true,
            Self::ExternalFunction
            | Self::InlineAssembly
            | Self::SignalHandler
            | Self::OptimizedBitcode
            | Self::NoDebugInformation
            | Self::ExternalGlobal
            | Self::VolatileAsAtomic
            | Self::AssumedAtomic
            | Self::ComputedAddress
            | Self::RetypedCopy
            | Self::TypedAllocation
            | Self::TypedPointer
            | Self::PartialModel
            | Self::NotComputed
            | Self::StandardInput
            | Self::FileContent => false,
        }
    }

    /// Whether a bug of the source could go unseen because of it.
    pub fn could_hide_a_bug(self) -> bool {
        self != Self::NoDebugInformation
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}
