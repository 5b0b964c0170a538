//! Locks used against their rules, as bugs.

use super::{Bug, Names};
use crate::explore::machine::SeenMisuse;
use crate::explore::sync::MisuseKind;
use crate::findings::{Role, Rule};

pub fn bug(names: &Names<'_>, seen: &SeenMisuse) -> Bug {
    let misuse = &seen.misuse;
    // What is never released is shown where it was taken.
    let held = names.machine().sync.held_by(misuse.thread).iter().find(|held| held.lock == misuse.lock);
    let site = match misuse.kind {
        MisuseKind::LockLeak => held.and_then(|held| held.site).or(seen.site),
        MisuseKind::DoubleLock | MisuseKind::UnlockNotHeld | MisuseKind::WaitWithoutLock | MisuseKind::DestroyHeld => seen.site,
    };
    let lock = names.primitive(misuse.lock, site);
    let thread = names.thread(misuse.thread);
    let holder = misuse.holder.map(|holder| format!(", which {} holds", names.thread(holder))).unwrap_or_default();
    let (rule, role, message) = match misuse.kind {
        MisuseKind::DoubleLock => (Rule::DoubleLock, Role::Acquire, format!("{thread} locks {lock}, which it holds already")),
        MisuseKind::UnlockNotHeld => (Rule::UnlockNotHeld, Role::Release, format!("{thread} unlocks {lock} without holding it{holder}")),
        MisuseKind::LockLeak => (Rule::LockLeak, Role::Acquire, format!("{thread} ends and still holds {lock}")),
        MisuseKind::WaitWithoutLock => {
            (Rule::WaitWithoutLock, Role::Wait, format!("{thread} waits on a condition variable without holding {lock}"))
        }
        MisuseKind::DestroyHeld => (Rule::DestroyHeld, Role::Destroy, format!("{thread} destroys {lock} while it is held{holder}")),
    };
    let end = names.end(misuse.thread, role, lock.clone(), site, &seen.context.calls, &[]);
    Bug::new(rule, lock.clone(), lock, message, vec![end])
}
