//! Data races as bugs.

use super::{Bug, Names, Touch};
use crate::explore::happens_before::race::Role as AccessRole;
use crate::explore::happens_before::{Race, RaceEnd};
use crate::findings::{Role, Rule};

pub fn bug(names: &Names<'_>, race: &Race) -> Bug {
    let touch =
        |end: &RaceEnd| Touch { site: end.site, is_write: !matches!(end.role, AccessRole::Read | AccessRole::AtomicRead) };
    let part = |end: &RaceEnd| names.part(race.object, race.offset, race.size, touch(end));
    let (object, whole) = part(&race.second);
    let end = |end: &RaceEnd| names.end(end.thread, role(end.role), part(end).0, end.site, &end.context.calls, &end.locks);
    let verb = |end: &RaceEnd| match end.role {
        AccessRole::Read | AccessRole::AtomicRead => "reads",
        AccessRole::Write | AccessRole::AtomicWrite => "writes",
        AccessRole::End => "ends",
    };
    // In the order of the ends.
    let place = |end: &RaceEnd| end.site.and_then(|site| names.program.place_of(site));
    let (one, two) =
        if place(&race.second) < place(&race.first) { (&race.second, &race.first) } else { (&race.first, &race.second) };
    let (first, second) = (names.short_thread(one.thread), names.short_thread(two.thread));
    let what = match (verb(one), verb(two)) {
        ("writes", "writes") => format!("{first} and {second} write it"),
        (one, other) => format!("{first} {one} it, {second} {other} it"),
    };
    let message = format!("data race on {object}: {what}, and nothing orders them");
    Bug::new(Rule::DataRace, object, whole, message, vec![end(&race.first), end(&race.second)])
}

fn role(role: AccessRole) -> Role {
    match role {
        AccessRole::Read => Role::Read,
        AccessRole::Write => Role::Write,
        AccessRole::AtomicRead => Role::AtomicRead,
        AccessRole::AtomicWrite => Role::AtomicWrite,
        AccessRole::End => Role::Free,
    }
}
