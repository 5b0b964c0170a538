//! What an assumption can hide, check by check: the table behind "safe".

use super::Check;
use crate::program::AssumptionKind;

/// Whether a bug of this check could go unseen because of the assumption.
///
/// Two standing assumptions are no data and block nothing: allocations succeed, and nothing wakes without cause (`--faults` drops both).
pub fn could_hide(kind: AssumptionKind, check: Check) -> bool {
    match check {
        Check::Race => could_hide_a_race(kind),
        Check::Deadlock => could_hide_a_deadlock(kind),
        // These are found by execution alone.
        Check::Atomicity | Check::Misuse | Check::Safety | Check::Property => kind.could_hide_a_bug(),
    }
}

/// Cycles of locks are looked for in the program's text, too; which accesses are atomic does not matter to them.
fn could_hide_a_deadlock(kind: AssumptionKind) -> bool {
    !matches!(kind, AssumptionKind::VolatileAsAtomic | AssumptionKind::AssumedAtomic) && could_hide_a_race(kind)
}

/// Races are looked for in the program's text: what only changes the way of a run hides none.
fn could_hide_a_race(kind: AssumptionKind) -> bool {
    match kind {
        // It may touch what it can reach, unlock, start threads.
        AssumptionKind::ExternalFunction | AssumptionKind::IndirectFunction => true,
        // It may touch memory, or be an access that is gone.
        AssumptionKind::InlineAssembly | AssumptionKind::TargetIntrinsic | AssumptionKind::UnknownInstruction => true,
        // Handlers run in any thread, between any two instructions, holding what that thread holds.
        AssumptionKind::SignalHandler => true,
        // A call that is left by an exception leaves its locks held, or not.
        AssumptionKind::NonLocalJump => true,
        AssumptionKind::OptimizedBitcode => true,
        // It may hold code that accesses anything, and start threads.
        AssumptionKind::MissingBitcode => true,
        // Whoever defines it may access it.
        AssumptionKind::ExternalGlobal => true,
        // Accesses that are atomic only because the user said so.
        AssumptionKind::VolatileAsAtomic | AssumptionKind::AssumedAtomic => true,
        AssumptionKind::PartialModel => true,
        // The access through it is taken to touch nothing.
        AssumptionKind::ComputedAddress => true,
        // What is read there afterwards is taken not to be the address that was copied.
        AssumptionKind::RetypedCopy => true,
        // Uses of the memory as something else are taken not to be made.
        AssumptionKind::TypedAllocation => true,
        // So are uses of pointers to something else than their types say.
        AssumptionKind::TypedPointer => true,
        // Every way through the program counts, whatever is read; names do not matter.
        AssumptionKind::StandardInput
        | AssumptionKind::FileContent
        | AssumptionKind::NotComputed
        | AssumptionKind::NoDebugInformation => false,
    }
}
