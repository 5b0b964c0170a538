//! Who watches a run, and who decides its inputs.

use crate::explore::environment::Stream;
use crate::explore::scheduler::InputRequest;
use crate::explore::sync::{SyncEvent, ThreadId};
use crate::explore::value::{Pointer, Value};
use crate::program::{FunctionId, Ordering, SiteId};

use super::Machine;

/// Something that happened.
#[derive(Clone, Debug)]
pub struct Event<'a> {
    pub thread: ThreadId,
    /// `None` where no instruction of the program stands behind it.
    pub site: Option<SiteId>,
    pub kind: EventKind<'a>,
}

#[derive(Clone, Debug)]
pub enum EventKind<'a> {
    /// `value` is `None` when the bytes were moved, not looked at.
    Read {
        address: Pointer,
        size: u64,
        value: Option<&'a Value>,
        ordering: Option<Ordering>,
    },
    Write {
        address: Pointer,
        size: u64,
        value: Option<&'a Value>,
        ordering: Option<Ordering>,
    },
    Fence {
        ordering: Ordering,
    },
    Call {
        function: FunctionId,
    },
    Return {
        function: FunctionId,
        value: Option<&'a Value>,
    },
    /// A library function begins.
    LibraryCall {
        function: FunctionId,
        arguments: &'a [Value],
    },
    /// A library function has done its work.
    LibraryReturn {
        function: FunctionId,
        value: Option<&'a Value>,
    },
    /// The thread waits inside the library function.
    Blocked {
        function: FunctionId,
    },
    Synchronization(SyncEvent),
    Created {
        thread: ThreadId,
    },
    Output {
        stream: Stream,
        bytes: &'a [u8],
    },
    /// An input was chosen.
    Choice {
        what: &'a str,
        bits: u32,
        value: u128,
    },
    ThreadFinished,
}

/// Gets every event of a run.
pub trait Observer {
    /// Whether events are wanted at all; asked once a transition.
    fn is_interested(&self) -> bool {
        true
    }

    /// The machine is as it is right after the event; the acting thread's own stack is not in it.
    fn event(&mut self, machine: &Machine<'_>, event: &Event<'_>);
}

/// Watches nothing.
pub struct Unobserved;

impl Observer for Unobserved {
    fn is_interested(&self) -> bool {
        false
    }

    fn event(&mut self, _: &Machine<'_>, _: &Event<'_>) {}
}

/// Decides what the environment of the program answers.
pub trait Inputs {
    /// Must be a value that the request allows.
    fn input(&mut self, request: &InputRequest<'_>) -> u128;
}

/// Every input is zero.
pub struct ZeroInputs;

impl Inputs for ZeroInputs {
    fn input(&mut self, _: &InputRequest<'_>) -> u128 {
        0
    }
}
