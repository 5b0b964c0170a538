//! Declarations: what an object that is declared may hold.
//!
//! # Definition   An object that is declared holds the structures and the pointers that occur in its type. One with an array of single bytes, or a type of
//!                which something is not known, may hold anything.
//! # Theorem      Whoever accesses a member of a structure, or a pointer to one, in a declared object that does not hold it, or in memory into which such an object
//!                was copied, has no defined behaviour (C17 6.5p6, 6.5p7).
//! # Deviations   1. Structures without a name, and those that programs overlay with others (`AliasType`), are let be.  2. `void *`, and pointers to
//!                anything but a structure or a function, stand for all pointers.

use std::cell::RefCell;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::program::describe::{resolve, size_of};
use crate::program::{AliasType, AliasTypeId, DebugTypeId, DebugTypeKind, Program};

/// What is in a type.
#[derive(Debug, Default)]
struct Held<'p> {
    structures: FxHashSet<&'p str>,
    /// The names that the compiler gives to pointers to structures.
    pointers: FxHashSet<String>,
    has_other_pointers: bool,
}

/// By type: what is in it, or nothing if that may be anything.
#[derive(Debug, Default)]
pub(super) struct Declarations<'p>(RefCell<FxHashMap<DebugTypeId, Option<Held<'p>>>>);

impl<'p> Declarations<'p> {
    /// Whether an access as `alias` can be made in what is declared as `ty`.
    pub fn may_hold(&self, program: &'p Program, ty: DebugTypeId, alias: Option<AliasTypeId>) -> bool {
        alias.is_none_or(|alias| self.of(program, ty, |held| held.is_none_or(|held| held.may_be_accessed(program, alias))))
    }

    /// Whether every pointer in what is declared as `ty` is one that is accessed as `alias`.
    pub fn holds_only(&self, program: &'p Program, ty: DebugTypeId, alias: AliasTypeId) -> bool {
        self.of(program, ty, |held| held.is_some_and(|held| held.holds_only(program, alias)))
    }

    fn of<T>(&self, program: &'p Program, ty: DebugTypeId, answer: impl FnOnce(Option<&Held<'p>>) -> T) -> T {
        let mut known = self.0.borrow_mut();
        let held = known.entry(ty).or_insert_with(|| {
            let mut held = Held::default();
            held.add(program, ty, &mut FxHashSet::default()).map(|()| held)
        });
        answer(held.as_ref())
    }
}

impl<'p> Held<'p> {
    fn may_be_accessed(&self, program: &Program, alias: AliasTypeId) -> bool {
        match &program.alias_types[alias] {
            AliasType::Scalar { name, .. } => {
                !name.starts_with(POINTER_TO_STRUCTURE) || self.has_other_pointers || self.pointers.contains(name)
            }
            AliasType::Member { structure, scalar, is_open, .. } => {
                (*is_open || structure.is_empty() || self.structures.contains(structure.as_str()))
                    && self.may_be_accessed(program, *scalar)
            }
        }
    }

    fn holds_only(&self, program: &Program, alias: AliasTypeId) -> bool {
        match &program.alias_types[alias] {
            AliasType::Scalar { name, .. } => !self.has_other_pointers && self.pointers.iter().all(|pointer| pointer == name),
            AliasType::Member { scalar, .. } => self.holds_only(program, *scalar),
        }
    }

    /// Adds what is in a type; `None` when that may be anything.
    fn add(&mut self, program: &'p Program, ty: DebugTypeId, seen: &mut FxHashSet<DebugTypeId>) -> Option<()> {
        if !seen.insert(ty) {
            return Some(());
        }
        match &program.debug_types[ty].kind {
            DebugTypeKind::Base { .. } => {}
            DebugTypeKind::Function => return None,
            DebugTypeKind::Alias { of, .. } => self.add(program, (*of)?, seen)?,
            DebugTypeKind::Pointer { to } => match to.and_then(|to| resolve(program, to)).map(|(_, to)| &to.kind) {
                Some(DebugTypeKind::Struct { name, .. }) if !name.is_empty() => {
                    self.pointers.insert(format!("{POINTER_TO_STRUCTURE}{}{name}", name.len()));
                }
                Some(DebugTypeKind::Function) => {}
                _ => self.has_other_pointers = true,
            },
            DebugTypeKind::Array { element, .. } => {
                let element = (*element).filter(|element| size_of(program, *element) > 1)?;
                self.add(program, element, seen)?;
            }
            DebugTypeKind::Struct { fields, .. } | DebugTypeKind::Union { fields, .. } if fields.is_empty() => return None,
            DebugTypeKind::Struct { name, fields } => {
                self.structures.insert(name);
                fields.iter().try_for_each(|field| self.add(program, field.ty?, seen))?;
            }
            DebugTypeKind::Union { fields, .. } => fields.iter().try_for_each(|field| self.add(program, field.ty?, seen))?,
        }
        Some(())
    }
}

/// How the compiler's names of pointers to structures begin; the length of the structure's name and the name follow.
const POINTER_TO_STRUCTURE: &str = "p1 _ZTS";
