//! Overlays: how far do two structures begin alike?
//!
//! # Definition   The common beginning of two structures are their first members as long as these agree in place, size and kind; what pointers point to counts where both name a structure.
//! # Theorem      A program that uses one structure as another reaches in it no further than their common beginning (C17 6.5p7, 6.5.2.3p6), as long as it has defined behaviour.
//! # Misses       Structures whose first members are pointers to structures of two names (`struct list *next` over `struct item *next`): the compiler takes them for two, too.
//! # Example      A table of `struct { id; init; size; encode; }` that is searched as one of `struct { id; init; size; }`.

use crate::program::describe::resolve;
use crate::program::{DebugTypeId, DebugTypeKind, Program};

/// Structures in structures, beyond which debug information is damaged.
const DEEPEST: usize = 16;
/// Members that are compared: more of them make no accident.
const MOST: usize = 64;

/// A member that is no structure: its place and size in bits, and its kind.
#[derive(Clone, Copy, Debug)]
struct Scalar<'p> {
    at: u64,
    bits: u64,
    kind: Kind<'p>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind<'p> {
    /// To the structure of this name, or to anything.
    Pointer(Option<&'p str>),
    Other,
}

/// The bytes of the common beginning.
pub(super) fn common(program: &Program, one: DebugTypeId, other: DebugTypeId) -> u64 {
    let (mut left, mut right) = (Vec::new(), Vec::new());
    flatten(program, one, 0, DEEPEST, &mut left);
    flatten(program, other, 0, DEEPEST, &mut right);
    let alike = left.iter().zip(&right).take_while(|(one, other)| is_alike(one, other)).map(|(one, _)| one.at + one.bits);
    alike.last().unwrap_or(0).div_ceil(8)
}

fn is_alike(one: &Scalar<'_>, other: &Scalar<'_>) -> bool {
    let is_of_kind = match (one.kind, other.kind) {
        (Kind::Pointer(Some(one)), Kind::Pointer(Some(other))) => one == other,
        (Kind::Pointer(_), Kind::Pointer(_)) | (Kind::Other, Kind::Other) => true,
        _ => false,
    };
    one.at == other.at && one.bits == other.bits && is_of_kind
}

/// The members of a structure in the order of their places, those of its structures among them.
fn flatten<'p>(program: &'p Program, ty: DebugTypeId, at: u64, depth: usize, found: &mut Vec<Scalar<'p>>) {
    let Some(depth) = depth.checked_sub(1) else { return };
    let Some((_, content)) = resolve(program, ty) else { return };
    let DebugTypeKind::Struct { fields, .. } = &content.kind else { return };
    for field in fields {
        if found.len() >= MOST {
            return;
        }
        let at = at + field.offset_bits;
        match field.ty.and_then(|ty| resolve(program, ty)).map(|(id, ty)| (id, &ty.kind)) {
            Some((inner, DebugTypeKind::Struct { fields, .. })) if !fields.is_empty() => {
                flatten(program, inner, at, depth, found)
            }
            kind => found.push(Scalar {
                at,
                bits: field.size_bits,
                kind: kind.map_or(Kind::Other, |(_, kind)| kind_of(program, kind)),
            }),
        }
    }
}

fn kind_of<'p>(program: &'p Program, kind: &'p DebugTypeKind) -> Kind<'p> {
    let DebugTypeKind::Pointer { to } = kind else { return Kind::Other };
    let name = to.and_then(|to| resolve(program, to)).and_then(|(_, to)| match &to.kind {
        DebugTypeKind::Struct { name, .. } if !name.is_empty() => Some(name.as_str()),
        _ => None,
    });
    Kind::Pointer(name)
}
