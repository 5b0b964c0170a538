//! What synchronisation needs from the machine.

use super::event::{Misuse, SyncEvent};
use super::table::SyncTable;
use crate::explore::fault::Fault;
use crate::explore::thread_id::ThreadId;
use crate::explore::value::{ObjectId, Pointer, Value};
use crate::program::{AssumptionKind, DataLayout, Ordering, SiteId, Type};

/// How a library call touches bytes, for the race detector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Touch {
    /// Initialisation and destruction of a primitive.
    PlainWrite,
    /// A look at an attribute object.
    PlainRead,
    /// An operation of a primitive: races with plain accesses, never with another operation, and orders nothing by itself.
    Operation,
    /// C11 atomics by library call: ordering as the call says.
    AtomicRead(Ordering),
    AtomicWrite(Ordering),
    AtomicReadWrite(Ordering),
}

/// The machine as synchronisation sees it. All methods speak of the thread that performs the call.
pub trait SyncContext {
    fn layout(&self) -> &DataLayout;
    fn table(&self) -> &SyncTable;
    fn table_mut(&mut self) -> &mut SyncTable;

    /// The instruction that makes the call, for reports.
    fn site(&self) -> Option<SiteId>;
    /// The object behind an address and the offset inside it; `None` when it points into no object.
    fn locate(&self, pointer: Pointer) -> Option<(ObjectId, u64)>;
    /// The bytes from the address to the end of its object; a fault when the object is gone.
    fn remaining(&self, address: Pointer) -> Result<u64, Fault>;
    /// Tells the race detector that the calling thread touches these bytes; a fault when they do not exist.
    fn touch(&mut self, address: Pointer, size: u64, touch: Touch) -> Result<(), Fault>;
    /// Reads bytes without telling the race detector; undefined bytes read as 0.
    fn peek(&self, address: Pointer, size: u64) -> Result<Vec<u8>, Fault>;
    /// Writes bytes without telling the race detector.
    fn poke(&mut self, address: Pointer, bytes: &[u8]) -> Result<(), Fault>;
    /// A plain access of the program's own data (a handle, a result), race-checked.
    fn load(&mut self, address: Pointer, ty: Type) -> Result<Value, Fault>;
    fn store(&mut self, address: Pointer, value: &Value, ty: Type) -> Result<(), Fault>;
    /// As `load` and `store`, without telling the race detector (the caller has called `touch`).
    fn load_silently(&mut self, address: Pointer, ty: Type) -> Result<Value, Fault>;
    fn store_silently(&mut self, address: Pointer, value: &Value, ty: Type) -> Result<(), Fault>;

    /// Makes a thread with the id `thread` (already entered in the table) that will call `entry` with `argument`.
    fn spawn(&mut self, thread: ThreadId, entry: Pointer, argument: Option<Value>) -> Result<(), Fault>;
    fn set_errno(&mut self, code: i32) -> Result<(), Fault>;
    /// A choice of the schedule among `0..count`, recorded in its token. Never called with a count below 2.
    fn pick(&mut self, count: usize, what: &str) -> usize;
    /// What happened, in order: for the vector clocks and the observers.
    fn emit(&mut self, event: SyncEvent);
    fn report_misuse(&mut self, misuse: Misuse);
    /// Something is not executed exactly here.
    fn assume(&mut self, kind: AssumptionKind, what: &str);
    /// Whether `--faults` is on.
    fn has_spurious_wakeups(&self) -> bool;
}
