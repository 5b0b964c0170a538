//! Native frames: library functions that call back into the program and go on when the callback has returned.
//!
//! `qsort`, `bsearch`, `pthread_once`, exit handlers, key destructors and cleanup handlers stand on a thread's stack like functions
//! of the program, so that a thread can be stopped, copied and resumed inside them.

use std::fmt;

use crate::explore::environment::Environment;
use crate::explore::fault::Fault;
use crate::explore::value::{Pointer, Value};

/// What a native frame does next.
#[derive(Clone, Debug)]
pub enum NativeStep {
    /// Calls a function of the program; `resume` gets its result.
    Call { function: Pointer, arguments: Vec<Value> },
    /// The library function returns to its caller.
    Return(Option<Value>),
}

/// A library function that stands on a thread's stack.
pub trait NativeFrame: NativeFrameClone + fmt::Debug + Send + Sync {
    /// The library function's name, for traces.
    fn name(&self) -> &'static str;

    /// Whether resuming it is a scheduling point; not so when it touches no memory.
    fn is_visible(&self) -> bool {
        true
    }

    /// Goes on: `last` is what the last call returned, `None` the first time and after a function that returns nothing.
    fn resume(&mut self, environment: &mut dyn Environment, last: Option<Value>) -> Result<NativeStep, Fault>;
}

/// Cloning behind a box; every `Clone` type has it.
pub trait NativeFrameClone {
    fn clone_boxed(&self) -> Box<dyn NativeFrame>;
}

impl<T: NativeFrame + Clone + 'static> NativeFrameClone for T {
    fn clone_boxed(&self) -> Box<dyn NativeFrame> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn NativeFrame> {
    fn clone(&self) -> Self {
        (**self).clone_boxed()
    }
}

/// The outermost frame of a thread: calls functions one after the other and returns what the last one returned.
#[derive(Clone, Debug)]
pub struct Entry {
    /// In reverse order: the next is the last.
    calls: Vec<(Pointer, Vec<Value>)>,
}

impl Entry {
    pub fn new(mut calls: Vec<(Pointer, Vec<Value>)>) -> Entry {
        calls.reverse();
        Entry { calls }
    }
}

impl NativeFrame for Entry {
    fn name(&self) -> &'static str {
        "_start"
    }

    fn is_visible(&self) -> bool {
        false
    }

    fn resume(&mut self, _: &mut dyn Environment, last: Option<Value>) -> Result<NativeStep, Fault> {
        Ok(match self.calls.pop() {
            Some((function, arguments)) => NativeStep::Call { function, arguments },
            None => NativeStep::Return(last),
        })
    }
}
