//! Threads, their stacks, and where each of them stands.

use crate::explore::happens_before::StackId;
use crate::explore::sync::{BlockReason, Resume, ThreadId};
use crate::explore::value::{ObjectId, Pointer, Value};
use crate::program::{BlockId, Context, FunctionId, GlobalId, RegisterId, SiteId};

use super::native::NativeFrame;
use super::variadic::VariadicArgument;

#[derive(Clone, Debug)]
pub struct Thread {
    pub id: ThreadId,
    pub status: Status,
    /// Outermost first.
    pub frames: Vec<Frame>,
    /// The registers of all frames, one after the other.
    pub registers: Vec<Value>,
    /// The stack objects of all frames, oldest first.
    pub stack: Vec<ObjectId>,
    pub creation: Creation,
    /// The instances of thread-local globals that were used so far, by global.
    pub thread_locals: Vec<(GlobalId, Pointer)>,
    /// Where the thread's `errno` lies, once it was asked for.
    pub errno: Option<Pointer>,
    /// The number of the empty call stack of this thread.
    pub root: StackId,
    /// How many functions of the program it has called.
    pub activations: u64,
}

/// Whether a thread can go on.
#[derive(Clone, Debug, PartialEq)]
pub enum Status {
    Runnable,
    /// Inside a library call that waits.
    Blocked(BlockReason),
    Finished,
}

/// Where a thread was created and what it runs.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Creation {
    /// `None` when the entry is no function of the program.
    pub entry: Option<FunctionId>,
    /// `None` for the first thread.
    pub creator: Option<ThreadId>,
    /// The creation sites from the first thread to this one, this one's last; and the creator's call sites at that time.
    pub context: Context,
}

/// One activation on a thread's stack.
#[derive(Clone, Debug)]
pub struct Frame {
    pub kind: FrameKind,
    /// The call that made this frame; `None` for a thread's entry.
    pub call_site: Option<SiteId>,
    /// Which of the caller's registers the result goes to.
    pub result: Option<RegisterId>,
}

#[derive(Clone, Debug)]
pub enum FrameKind {
    Code(CodeFrame),
    Library(LibraryFrame),
    Native(NativeActivation),
    Ending(Ending),
}

/// A function of the program.
#[derive(Clone, Debug)]
pub struct CodeFrame {
    pub function: FunctionId,
    pub block: BlockId,
    /// The next instruction of the block; the terminator follows the last.
    pub instruction: usize,
    /// Where this frame's registers begin.
    pub base: usize,
    /// How many stack objects the thread had at entry.
    pub stack_mark: usize,
    /// Which of the thread's calls this is: no two have the same number.
    pub activation: u64,
    pub variadic: Vec<VariadicArgument>,
    /// The whole body is one atomic section, which has begun.
    pub is_atomic: bool,
    /// The number of the call stack up to here, once it was asked for.
    pub stack: Option<StackId>,
}

/// A library function that is executed effect by effect.
#[derive(Clone, Debug)]
pub struct LibraryFrame {
    pub function: FunctionId,
    pub arguments: Vec<Value>,
    /// How many effects of its model are done; the builtin follows the last.
    pub effect: usize,
    /// Where inside the current effect to go on.
    pub resume: Resume,
    /// What it will return, as far as it is known.
    pub value: Option<Value>,
}

/// A library function that calls back.
#[derive(Clone, Debug)]
pub struct NativeActivation {
    pub frame: Box<dyn NativeFrame>,
    /// What the last callback returned.
    pub last: Option<Value>,
}

/// A thread or the process on its way out: routines that still run, one after the other, then the end.
#[derive(Clone, Debug, PartialEq)]
pub enum Ending {
    /// The entry has returned; synchronisation runs the destructors of thread-specific data.
    Thread { value: Option<Value>, resume: Resume },
    /// `exit` or the return of `main`: exit handlers, then the program's destructors.
    Process { code: i32, destructors_done: usize },
}

impl Thread {
    pub fn new(id: ThreadId, creation: Creation) -> Thread {
        Thread {
            id,
            status: Status::Runnable,
            frames: Vec::new(),
            registers: Vec::new(),
            stack: Vec::new(),
            creation,
            thread_locals: Vec::new(),
            errno: None,
            root: StackId::ROOT,
            activations: 0,
        }
    }

    /// The innermost frame of the program, if the thread has one.
    pub fn code_frame(&self) -> Option<&CodeFrame> {
        self.frames.iter().rev().find_map(|frame| match &frame.kind {
            FrameKind::Code(code) => Some(code),
            FrameKind::Library(_) | FrameKind::Native(_) | FrameKind::Ending(_) => None,
        })
    }

    /// The calls that led to where the thread stands, and how the thread was created.
    pub fn context(&self) -> Context {
        Context {
            creation: self.creation.context.creation.clone(),
            calls: self
                .frames
                .iter()
                .filter(|frame| matches!(frame.kind, FrameKind::Code(_)))
                .filter_map(|frame| frame.call_site)
                .collect(),
            truncated: false,
        }
    }
}
