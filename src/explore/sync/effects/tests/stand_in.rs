//! A machine with one object of memory, no races and no frames: just enough for calls to run.

use std::collections::BTreeMap;

use crate::explore::fault::Fault;
use crate::explore::sync::{
    Call, EffectOutcome, Misuse, MisuseKind, Readiness, Resume, SyncContext, SyncEvent, SyncTable, Touch, perform,
};
use crate::explore::thread_id::ThreadId;
use crate::explore::value::{ObjectId, Pointer, ScalarValue, Value};
use crate::models::Effect;
use crate::program::{AssumptionKind, DataLayout, SiteId, Type};

pub const MAIN: ThreadId = ThreadId(0);
pub const OBJECT: ObjectId = ObjectId(5);
pub const BASE: u64 = 0x10000;
const SIZE: u64 = 4096;

#[derive(Default)]
pub struct StandIn {
    pub layout: DataLayout,
    pub table: SyncTable,
    pub bytes: BTreeMap<u64, u8>,
    /// Pointers and other values that the calls stored, by address.
    pub stored: BTreeMap<u64, Value>,
    pub events: Vec<SyncEvent>,
    pub misuses: Vec<Misuse>,
    pub assumptions: Vec<AssumptionKind>,
    pub touches: Vec<(u64, u64, Touch)>,
    pub spawned: Vec<(ThreadId, Pointer, Option<Value>)>,
    pub picks: Vec<usize>,
    pub errno: i32,
    pub has_faults: bool,
}

impl SyncContext for StandIn {
    fn layout(&self) -> &DataLayout {
        &self.layout
    }

    fn table(&self) -> &SyncTable {
        &self.table
    }

    fn table_mut(&mut self) -> &mut SyncTable {
        &mut self.table
    }

    fn site(&self) -> Option<SiteId> {
        None
    }

    fn locate(&self, pointer: Pointer) -> Option<(ObjectId, u64)> {
        (BASE..BASE + SIZE).contains(&pointer.address).then(|| (OBJECT, pointer.address - BASE))
    }

    fn remaining(&self, address: Pointer) -> Result<u64, Fault> {
        let (_, offset) = self.locate(address).ok_or(Fault::WildPointer { address: address.address })?;
        Ok(SIZE - offset)
    }

    fn touch(&mut self, address: Pointer, size: u64, touch: Touch) -> Result<(), Fault> {
        self.touches.push((address.address - BASE, size, touch));
        Ok(())
    }

    fn peek(&self, address: Pointer, size: u64) -> Result<Vec<u8>, Fault> {
        Ok((0..size).map(|index| self.bytes.get(&(address.address + index)).copied().unwrap_or(0)).collect())
    }

    fn poke(&mut self, address: Pointer, bytes: &[u8]) -> Result<(), Fault> {
        self.bytes.extend(bytes.iter().enumerate().map(|(index, byte)| (address.address + index as u64, *byte)));
        Ok(())
    }

    fn load(&mut self, address: Pointer, ty: Type) -> Result<Value, Fault> {
        Ok(self.stored.get(&address.address).cloned().unwrap_or_else(|| Value::zero(ty)))
    }

    fn store(&mut self, address: Pointer, value: &Value, _: Type) -> Result<(), Fault> {
        self.stored.insert(address.address, value.clone());
        Ok(())
    }

    fn load_silently(&mut self, address: Pointer, ty: Type) -> Result<Value, Fault> {
        self.load(address, ty)
    }

    fn store_silently(&mut self, address: Pointer, value: &Value, ty: Type) -> Result<(), Fault> {
        self.store(address, value, ty)
    }

    fn spawn(&mut self, thread: ThreadId, entry: Pointer, argument: Option<Value>) -> Result<(), Fault> {
        self.spawned.push((thread, entry, argument));
        Ok(())
    }

    fn set_errno(&mut self, code: i32) -> Result<(), Fault> {
        self.errno = code;
        Ok(())
    }

    fn pick(&mut self, count: usize, _: &str) -> usize {
        assert!(count >= 2, "nothing to pick");
        self.picks.pop().unwrap_or(0)
    }

    fn emit(&mut self, event: SyncEvent) {
        self.events.push(event);
    }

    fn report_misuse(&mut self, misuse: Misuse) {
        self.misuses.push(misuse);
    }

    fn assume(&mut self, kind: AssumptionKind, _: &str) {
        self.assumptions.push(kind);
    }

    fn has_spurious_wakeups(&self) -> bool {
        self.has_faults
    }
}

/// The address of byte `offset` of the object.
pub fn at(offset: u64) -> Value {
    Value::pointer(Pointer { address: BASE + offset, object: Some(OBJECT) })
}

pub fn number(value: i32) -> Value {
    Value::integer(32, value as u32 as u128)
}

/// A call that a thread has begun and not finished.
pub struct Waiting {
    pub thread: ThreadId,
    effect: Effect,
    arguments: Vec<Value>,
    outcome: EffectOutcome,
}

impl StandIn {
    /// With this many threads besides the first.
    pub fn with_threads(count: usize) -> StandIn {
        let mut machine = StandIn::default();
        (0..count).for_each(|_| {
            machine.table.threads.change().create(false);
        });
        machine
    }

    pub fn outcome(&mut self, thread: u32, effect: &Effect, arguments: &[Value], resume: Resume) -> EffectOutcome {
        let call = Call { effect, arguments, return_type: Type::integer(32) };
        perform(self, ThreadId(thread), call, resume).expect("no call here touches missing memory")
    }

    /// A call that breaks a rule: which one.
    pub fn fault(&mut self, thread: u32, effect: Effect, arguments: &[Value]) -> Fault {
        let call = Call { effect: &effect, arguments, return_type: Type::integer(32) };
        perform(self, ThreadId(thread), call, Resume::Start).expect_err("the call is undefined")
    }

    /// A call that completes at once: what it returns, as an `int`.
    pub fn call(&mut self, thread: u32, effect: Effect, arguments: &[Value]) -> i32 {
        match self.outcome(thread, &effect, arguments, Resume::Start) {
            EffectOutcome::Done(Some(value)) => as_int(&value),
            other => panic!("{effect:?} was expected to complete: {other:?}"),
        }
    }

    /// A call that is expected to block.
    pub fn block(&mut self, thread: u32, effect: Effect, arguments: &[Value]) -> Waiting {
        let outcome = self.outcome(thread, &effect, arguments, Resume::Start);
        assert!(matches!(outcome, EffectOutcome::Block { .. }), "{effect:?} was expected to block: {outcome:?}");
        Waiting { thread: ThreadId(thread), effect, arguments: arguments.to_vec(), outcome }
    }

    pub fn readiness(&self, waiting: &Waiting) -> Readiness {
        match &waiting.outcome {
            EffectOutcome::Block { reason, .. } => self.table.readiness(waiting.thread, reason),
            other => panic!("does not wait: {other:?}"),
        }
    }

    /// The scheduler picks the waiting thread: it goes on.
    pub fn go_on(&mut self, waiting: &mut Waiting) -> EffectOutcome {
        let (EffectOutcome::Block { resume, .. } | EffectOutcome::CallBack { resume, .. }) = waiting.outcome.clone() else {
            panic!("does not wait: {:?}", waiting.outcome);
        };
        let Waiting { thread, effect, arguments, .. } = &*waiting;
        let outcome = self.outcome(thread.0, effect, arguments, resume);
        waiting.outcome = outcome.clone();
        outcome
    }

    /// The thread goes on and its call completes.
    pub fn finish(&mut self, mut waiting: Waiting) -> i32 {
        match self.go_on(&mut waiting) {
            EffectOutcome::Done(Some(value)) => as_int(&value),
            other => panic!("was expected to complete: {other:?}"),
        }
    }

    pub fn misuse_kinds(&self) -> Vec<MisuseKind> {
        self.misuses.iter().map(|misuse| misuse.kind).collect()
    }
}

pub fn as_int(value: &Value) -> i32 {
    match value {
        Value::Scalar(ScalarValue::Integer { bits: 32, value }) => *value as u32 as i32,
        other => panic!("not an int: {other:?}"),
    }
}
