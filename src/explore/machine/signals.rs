//! Signal handlers: what is installed for each signal. Handlers do not run; that one is installed is an assumption.

use crate::explore::fault::Fault;
use crate::explore::happens_before::AccessKind;
use crate::explore::memory::decode;
use crate::explore::value::{Bytes, Pointer, ScalarValue, Value};
use crate::program::{AssumptionKind, DataLayout, Type};

use super::observer::EventKind;
use super::turn::{Stop, Turn};

/// The bytes of `sigset_t`.
const MASK_BYTES: u64 = 128;
/// What `signal` installs a handler with: interrupted calls go on.
const RESTART: u32 = 0x1000_0000;

/// The size of `struct sigaction`, and where its flags lie.
fn structure(layout: &DataLayout) -> (u64, u64) {
    let flags = u64::from(layout.pointer_bytes) + MASK_BYTES;
    if layout.pointer_bytes == 8 { (152, flags) } else { (140, flags) }
}

impl Turn<'_, '_> {
    /// `signal`: returns what was installed before.
    pub fn install_handler(&mut self, signal: Option<u128>, handler: Pointer, what: &str) -> Value {
        self.note_handler(handler, what);
        let layout = &self.machine.program.layout;
        let (size, flags) = structure(layout);
        let mut new = zeros(size);
        let width = layout.pointer_bytes as usize;
        new.data[..width].copy_from_slice(&handler.address.to_le_bytes()[..width]);
        new.pointers.extend(handler.object.map(|object| (0, object)));
        new.data[flags as usize..][..4].copy_from_slice(&RESTART.to_le_bytes());
        let Some(signal) = signal else { return Value::pointer(Pointer::NULL) };
        let old = self.machine.signal_handlers.insert(signal, new);
        old.map_or(Value::pointer(Pointer::NULL), |old| decode(&self.machine.memory, &old, 0, Type::POINTER))
    }

    /// `sigaction`: either pointer may be null.
    pub fn change_handler(&mut self, signal: Option<u128>, new: Pointer, old: Pointer, what: &str) -> Result<(), Stop> {
        let (size, _) = structure(&self.machine.program.layout);
        let installed = if new.is_null() {
            None
        } else {
            let bytes = self.machine.memory.read(new, size)?;
            self.record(new, size, AccessKind::Read)?;
            self.observe(EventKind::Read { address: new, size, value: None, ordering: None });
            match decode(&self.machine.memory, &bytes, 0, Type::POINTER) {
                Value::Scalar(ScalarValue::Pointer(handler)) => self.note_handler(handler, what),
                _ => return Err(Fault::undefined("a signal handler that is not defined").into()),
            }
            Some(bytes)
        };
        let signal = signal.unwrap_or(0);
        if !old.is_null() {
            let before = self.machine.signal_handlers.get(&signal).cloned().unwrap_or_else(|| zeros(size));
            self.machine.memory.write(old, &before)?;
            self.record(old, size, AccessKind::Write)?;
            self.observe(EventKind::Write { address: old, size, value: None, ordering: None });
        }
        if let Some(bytes) = installed {
            self.machine.signal_handlers.insert(signal, bytes);
        }
        Ok(())
    }

    fn note_handler(&mut self, handler: Pointer, what: &str) {
        // 0 and 1 are SIG_DFL and SIG_IGN.
        if handler.address > 1 {
            self.machine.assume(AssumptionKind::SignalHandler, what, self.site);
        }
    }
}

fn zeros(size: u64) -> Bytes {
    Bytes { data: vec![0; size as usize], defined: vec![true; size as usize], pointers: Vec::new() }
}
