//! Texts: which constants are not worth telling apart.
//!
//! Sets of pointers fill with texts, and nobody but who reads a format wants to know which one it is: in a program with many of them all that have no directive
//! (`%d`) are one object.

use super::object::{AbstractObject, AbstractObjectKind};
use crate::program::Program;

/// Texts of a program beyond which they are one object.
const MANY_TEXTS: usize = 128;

/// Whether it is a constant of single bytes that its file alone knows, and no format with directives: which one it is matters to nobody.
pub(super) fn is_text(program: &Program, kind: &AbstractObjectKind) -> bool {
    let AbstractObjectKind::Global(global) = kind else { return false };
    let variable = &program.globals[*global];
    variable.is_constant
        && variable.is_static
        && !variable.is_external
        && variable.relocations.is_empty()
        && !variable.bytes.contains(&b'%')
        && variable.debug_type.is_none_or(|_| AbstractObject::of_global(program, *global).is_of_bytes())
}

pub(super) fn has_many_texts(program: &Program) -> bool {
    program.globals.keys().filter(|global| is_text(program, &AbstractObjectKind::Global(*global))).count() > MANY_TEXTS
}
