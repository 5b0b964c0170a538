//! `qsort` and `bsearch`: library functions that call the program's comparison and go on with its answer.
//!
//! `qsort` is the stable merge sort of glibc 2.36: the lower half has ⌊n/2⌋ elements, both halves are sorted, lower one
//! first, then merged, and the upper element is taken only when it is smaller. Order and number of the comparisons are the same.
//!
//! # Deviations
//! 1. Elements above 32 bytes are sorted in place too, where glibc sorts pointers to them first: the comparisons get other
//!    addresses, with the same contents.

use super::call::{BuiltinResult, Call, Outcome, bits_of, offset};
use super::text;
use crate::explore::environment::Environment;
use crate::explore::fault::Fault;
use crate::explore::machine::native::{NativeFrame, NativeStep};
use crate::explore::value::{Pointer, Value};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Task {
    Sort { first: u64, count: u64 },
    Merge { first: u64, count: u64 },
}

/// Two sorted neighbours on their way into the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Merge {
    first: u64,
    count: u64,
    lower: u64,
    lower_end: u64,
    upper: u64,
    upper_end: u64,
    merged: u64,
}

/// `qsort` at work.
#[derive(Clone, Debug)]
pub struct Sort {
    base: Pointer,
    size: u64,
    /// As large as the array; null when there is nothing to sort.
    buffer: Pointer,
    comparison: Pointer,
    context: Option<Value>,
    tasks: Vec<Task>,
    merge: Option<Merge>,
}

/// `qsort`; `qsort_r` hands a context to the comparison.
pub fn qsort(call: Call, has_context: bool) -> Outcome {
    let (base, count, size, comparison) = (call.pointer(0)?, call.unsigned(1)?, call.unsigned(2)?, call.pointer(3)?);
    let context = if has_context { Some(call.argument(4)?.clone()) } else { None };
    let total = count.saturating_mul(size);
    let buffer = if count > 1 && size > 0 {
        // An array that is too short is found here, before a buffer of its claimed size is made.
        if call.environment.remaining(base)? < total {
            text::touch(call.environment, base, total)?;
        }
        call.environment.allocate_scratch(total)?
    } else {
        Pointer::NULL
    };
    let tasks = vec![Task::Sort { first: 0, count }];
    Ok(BuiltinResult::Frame(Box::new(Sort { base, size, buffer, comparison, context, tasks, merge: None })))
}

impl Sort {
    fn element(&self, index: u64) -> Pointer {
        offset(self.base, index * self.size)
    }

    fn copy(&self, environment: &mut dyn Environment, to: Pointer, from: Pointer, count: u64) -> Result<(), Fault> {
        if count * self.size > 0 { environment.copy(to, from, count * self.size) } else { Ok(()) }
    }

    /// Moves the smaller element into the buffer.
    fn take(&self, environment: &mut dyn Environment, merge: &mut Merge, takes_upper: bool) -> Result<(), Fault> {
        let index = if takes_upper { merge.upper } else { merge.lower };
        self.copy(environment, offset(self.buffer, merge.merged * self.size), self.element(index), 1)?;
        merge.merged += 1;
        if takes_upper {
            merge.upper += 1
        } else {
            merge.lower += 1
        }
        Ok(())
    }

    /// The rest of the upper half is in its place already; the rest of the lower half goes behind what was merged.
    fn finish(&self, environment: &mut dyn Environment, merge: Merge) -> Result<(), Fault> {
        let left = merge.lower_end - merge.lower;
        self.copy(environment, offset(self.buffer, merge.merged * self.size), self.element(merge.lower), left)?;
        let settled = merge.count - (merge.upper_end - merge.upper);
        self.copy(environment, self.element(merge.first), self.buffer, settled)
    }
}

impl NativeFrame for Sort {
    fn name(&self) -> &'static str {
        "qsort"
    }

    fn resume(&mut self, environment: &mut dyn Environment, last: Option<Value>) -> Result<NativeStep, Fault> {
        if let (Some(mut merge), Some(answer)) = (self.merge, last) {
            self.take(environment, &mut merge, bits_of(&answer)?.0 as i32 > 0)?;
            self.merge = Some(merge);
        }
        loop {
            if let Some(merge) = self.merge {
                if merge.lower < merge.lower_end && merge.upper < merge.upper_end {
                    let mut arguments =
                        vec![Value::pointer(self.element(merge.lower)), Value::pointer(self.element(merge.upper))];
                    arguments.extend(self.context.clone());
                    return Ok(NativeStep::Call { function: self.comparison, arguments });
                }
                self.finish(environment, merge)?;
                self.merge = None;
            }
            match self.tasks.pop() {
                Some(Task::Sort { count: 0 | 1, .. }) => {}
                Some(Task::Sort { first, count }) => {
                    let half = count / 2;
                    self.tasks.push(Task::Merge { first, count });
                    self.tasks.push(Task::Sort { first: first + half, count: count - half });
                    self.tasks.push(Task::Sort { first, count: half });
                }
                Some(Task::Merge { first, count }) => {
                    let middle = first + count / 2;
                    let upper_end = first + count;
                    self.merge =
                        Some(Merge { first, count, lower: first, lower_end: middle, upper: middle, upper_end, merged: 0 });
                }
                None => {
                    if !self.buffer.is_null() {
                        environment.free(self.buffer)?;
                    }
                    return Ok(NativeStep::Return(None));
                }
            }
        }
    }
}

/// `bsearch` at work: halves the range until the comparison answers 0.
#[derive(Clone, Debug)]
pub struct Search {
    key: Value,
    base: Pointer,
    size: u64,
    low: u64,
    high: u64,
    comparison: Pointer,
}

pub fn bsearch(call: Call) -> Outcome {
    let (key, base, high, size) = (call.argument(0)?.clone(), call.pointer(1)?, call.unsigned(2)?, call.unsigned(3)?);
    let comparison = call.pointer(4)?;
    Ok(BuiltinResult::Frame(Box::new(Search { key, base, size, low: 0, high, comparison })))
}

impl Search {
    fn middle(&self) -> u64 {
        (self.low + self.high) / 2
    }

    fn element(&self) -> Pointer {
        offset(self.base, self.middle() * self.size)
    }
}

impl NativeFrame for Search {
    fn name(&self) -> &'static str {
        "bsearch"
    }

    fn resume(&mut self, _: &mut dyn Environment, last: Option<Value>) -> Result<NativeStep, Fault> {
        if let Some(answer) = last {
            match (bits_of(&answer)?.0 as i32).signum() {
                -1 => self.high = self.middle(),
                1 => self.low = self.middle() + 1,
                _ => return Ok(NativeStep::Return(Some(Value::pointer(self.element())))),
            }
        }
        if self.low >= self.high {
            return Ok(NativeStep::Return(Some(Value::pointer(Pointer::NULL))));
        }
        let arguments = vec![self.key.clone(), Value::pointer(self.element())];
        Ok(NativeStep::Call { function: self.comparison, arguments })
    }
}
