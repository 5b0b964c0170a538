//! Locks used against their rules, as bugs.

use super::names::without_insides;
use super::{Bug, Names, Touch};
use crate::explore::machine::SeenMisuse;
use crate::explore::sync::MisuseKind;
use crate::findings::{Role, Rule};

pub fn bug(names: &Names<'_>, seen: &SeenMisuse) -> Bug {
    let misuse = &seen.misuse;
    let site = seen.site;
    let lock = names.primitive(misuse.lock, site);
    // A wait is misused, and named by, the condition variable.
    let condition = || names.expression(Touch { site: seen.site, is_write: true }, 1).map_or(lock.clone(), without_insides);
    let object = if misuse.kind == MisuseKind::WaitWithoutLock { condition() } else { lock.clone() };
    let thread = names.short_thread(misuse.thread);
    let holder = misuse.holder.map(|holder| format!(", which {} holds", names.short_thread(holder))).unwrap_or_default();
    let (rule, role, message) = match misuse.kind {
        MisuseKind::DoubleLock => (Rule::DoubleLock, Role::Acquire, format!("{thread} locks {lock}, which it holds already")),
        MisuseKind::UnlockNotHeld => {
            (Rule::UnlockNotHeld, Role::Release, format!("{thread} unlocks {lock} without holding it{holder}"))
        }
        MisuseKind::LockLeak => (Rule::LockLeak, Role::Acquire, format!("{thread} ends and still holds {lock}")),
        MisuseKind::WaitWithoutLock => {
            (Rule::WaitWithoutLock, Role::Wait, format!("{thread} waits on {object} without holding {lock}"))
        }
        MisuseKind::DestroyHeld => {
            (Rule::DestroyHeld, Role::Destroy, format!("{thread} destroys {lock} while it is held{holder}"))
        }
    };
    let end = names.end(misuse.thread, role, object.clone(), seen.site, &seen.context.calls, &seen.held);
    Bug::new(rule, object.clone(), object, message, vec![end])
}
