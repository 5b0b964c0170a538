//! Faults and failed assertions as bugs.

use super::{Bug, Names, Touch};
use crate::explore::fault::Fault;
use crate::explore::thread_id::ThreadId;
use crate::explore::value::ObjectId;
use crate::findings::{Role, Rule};
use crate::program::SiteId;

/// `None` for undefined behaviour that no rule is about: the run simply ends there.
pub fn bug(names: &Names<'_>, thread: ThreadId, site: Option<SiteId>, fault: &Fault) -> Option<Bug> {
    let name = |object: &ObjectId, offset: u64| names.part(*object, offset, 1, Touch { site, is_write: true });
    let role = names.access_role(site);
    let expression = names.expression(Touch { site, is_write: role != Role::Read }, 1);
    let (rule, (object, whole), what) = match fault {
        Fault::NullDereference { .. } => {
            let what = expression
                .clone()
                .map_or("a null pointer is dereferenced".to_owned(), |name| format!("{name} is accessed through a null pointer"));
            (Rule::NullDereference, (expression.clone().unwrap_or_default(), String::new()), what)
        }
        Fault::OutOfBounds { object, offset, size } => {
            let length = names.machine().memory.object(*object).size;
            let (_, whole) = name(object, 0);
            let what = format!("{size} bytes at offset {offset} of {whole}, which has {length}");
            (Rule::OutOfBounds, (expression.clone().unwrap_or_else(|| whole.clone()), whole), what)
        }
        Fault::UseAfterFree { object } => {
            let (part, whole) = name(object, 0);
            (Rule::UseAfterFree, (part.clone(), whole), format!("{part} is used after it was freed or its scope was left"))
        }
        Fault::DoubleFree { object } => {
            let (part, whole) = name(object, 0);
            (Rule::UseAfterFree, (part.clone(), whole), format!("{part} is freed twice"))
        }
        Fault::WildPointer { address } => {
            (Rule::OutOfBounds, (String::new(), String::new()), format!("address {address:#x} belongs to no object"))
        }
        Fault::Assertion { what } => return Some(assertion(names, thread, site, what)),
        Fault::InvalidFree { .. }
        | Fault::ReadOnly { .. }
        | Fault::DivisionByZero
        | Fault::Undefined { .. }
        | Fault::OutOfMemory { .. } => return None,
    };
    let message = format!("{what}, in {}", names.short_thread(thread));
    let end = names.end_now(thread, role, object.clone(), site);
    Some(Bug::new(rule, object, whole, message, vec![end]))
}

pub fn assertion(names: &Names<'_>, thread: ThreadId, site: Option<SiteId>, what: &str) -> Bug {
    let message = if what.is_empty() {
        format!("an assertion fails in {}", names.short_thread(thread))
    } else {
        format!("an assertion fails in {}: {what}", names.short_thread(thread))
    };
    let object = what.to_owned();
    Bug::new(Rule::Assertion, object.clone(), object.clone(), message, vec![names.end_now(thread, Role::Fault, object, site)])
}
