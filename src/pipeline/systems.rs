//! The lock systems of a program: what `lockcheck emit pds`, `histories` and `lock-order` print of C.

use super::entries::Entries;
use crate::engines::NamedSystems;
use crate::facts::Facts;
use crate::models::Models;
use crate::program::Program;

pub fn systems(program: &Program, models: &Models, entries: &Entries) -> NamedSystems {
    let bound = models.bind(program);
    let facts = Facts::of(program, &bound, entries.of_library(program).as_deref());
    NamedSystems::of(program, &bound, &facts)
}
