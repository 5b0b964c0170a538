//! Declarations: what an object of a known type may hold.
//!
//! # Definition   An object that is declared holds the structures and the pointers that occur in its type. In an array of single bytes lies whatever fits into it. One
//!                of a type of which something is not known may hold anything. Memory that is allocated as a structure (`allocation`) is treated alike.
//! # Theorem      Whoever accesses or addresses a member of a structure, or accesses a pointer to one, in a declared object that does not hold it, or in memory into which
//!                such an object was copied, has no defined behaviour (C17 6.5p6, 6.5p7, 6.5.2.3p4).
//!                What is declared, and not allocated, may also be used as a structure that begins alike, as far as it does (`overlay`).
//! # Deviations   1. A structure without a name is any that has a member at the same place.  2. `void *`, and pointers to
//!                anything but a structure or a function, stand for all pointers.  3. Where a member is addressed in a declared object, or by code of a module that was linked before, structures of one size are one. Structures of one name are one, and so are a structure and a typedef of
//!                one without a name.

use std::cell::RefCell;
use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};
use typed_index_collections::TiVec;

use super::overlay;
use crate::program::describe::{resolve, size_of};
use crate::program::{AliasType, AliasTypeId, DebugType, DebugTypeId, DebugTypeKind, Field, Program, Structure, StructureId};

/// How deep structures lie in one another at the most.
const DEEPEST: usize = 64;

/// What is in a type.
#[derive(Debug, Default)]
struct Held<'p> {
    structures: FxHashSet<&'p str>,
    /// The sizes of these structures, and with their names.
    sizes: FxHashSet<u64>,
    named: FxHashSet<(&'p str, u64)>,
    /// All of them.
    all: FxHashSet<DebugTypeId>,
    /// The names that the compiler gives to pointers to structures.
    pointers: FxHashSet<String>,
    has_other_pointers: bool,
    /// Arrays of single bytes: where they lie, and how many bytes the largest of those has that lie in several places.
    bytes: Vec<Range<u64>>,
    largest_bytes: u64,
    /// The bytes of members of structures without a tag.
    unnamed: Vec<Range<u64>>,
}

/// By type: what is in it, or nothing if that may be anything.
#[derive(Debug)]
pub(super) struct Declarations<'p> {
    program: &'p Program,
    held: RefCell<FxHashMap<DebugTypeId, Option<Held<'p>>>>,
    /// By name: the structures called so, the smallest first.
    structures: FxHashMap<&'p str, Vec<DebugTypeId>>,
    /// Of structures without a tag: their typedefs.
    typedefs: FxHashMap<DebugTypeId, Vec<&'p str>>,
    /// By type: whether it goes on behind its end (`goes_on`).
    goes_on: TiVec<DebugTypeId, bool>,
    /// What was answered before.
    contained: RefCell<FxHashMap<(DebugTypeId, StructureId, Option<u64>, Option<u64>), bool>>,
    common: RefCell<FxHashMap<(DebugTypeId, &'p str), u64>>,
}

impl<'p> Declarations<'p> {
    pub fn of(program: &'p Program) -> Declarations<'p> {
        let mut structures: FxHashMap<&'p str, Vec<DebugTypeId>> = FxHashMap::default();
        let mut typedefs: FxHashMap<DebugTypeId, Vec<&'p str>> = FxHashMap::default();
        for (id, ty) in program.debug_types.iter_enumerated() {
            let (name, id) = match &ty.kind {
                DebugTypeKind::Struct { name, fields } if !fields.is_empty() => (name.as_str(), id),
                DebugTypeKind::Alias { name, .. } => match resolve(program, id) {
                    Some((of, content)) if is_without_name(&content.kind) => {
                        typedefs.entry(of).or_default().push(name);
                        (name.as_str(), of)
                    }
                    _ => continue,
                },
                _ => continue,
            };
            if !name.is_empty() {
                structures.entry(name).or_default().push(id);
            }
        }
        structures.values_mut().for_each(|all| all.sort_unstable_by_key(|id| (program.debug_types[*id].size, *id)));
        Declarations {
            program,
            held: RefCell::default(),
            structures,
            typedefs,
            goes_on: program.debug_types.keys().map(|ty| goes_on(program, ty)).collect(),
            contained: RefCell::default(),
            common: RefCell::default(),
        }
    }

    /// Whether an access as `alias` can be made in what is declared, or allocated, as `ty`, at this distance from its start if that is known.
    pub fn may_hold(&self, ty: DebugTypeId, alias: Option<AliasTypeId>, at: Option<u64>, is_declared: bool) -> bool {
        let Some(alias) = alias else { return true };
        let at = self.within(ty, at);
        self.look(ty, |held| held.is_none_or(|held| self.may_be_accessed((ty, held), alias, at, is_declared)))
    }

    /// Whether this structure can lie in what is declared as `ty`, or, unless names are certain and count, one of its size. At this distance from its start if that is known.
    /// With a `member`, of which the offset is given: programs overlay structures that begin alike; without, names count.
    pub fn may_contain(&self, ty: DebugTypeId, structure: StructureId, at: Option<u64>, member: Option<u64>) -> bool {
        let key = (ty, structure, self.within(ty, at), member);
        let by_name = member.is_none();
        // Of an element of an array of structures.
        let member = member.map(|member| self.program.structures[structure].size.map_or(member, |size| member % size.max(1)));
        if let Some(known) = self.contained.borrow().get(&key) {
            return *known;
        }
        let Structure { name, size, is_merged } = &self.program.structures[structure];
        let sizes = || self.named(name).iter().map(|id| self.program.debug_types[*id].size);
        let answer = self.look(ty, |held| {
            let is_of_size = |held: &Held<'p>| (*is_merged || !by_name) && sizes().any(|size| held.sizes.contains(&size));
            // Each file has its own structures, some of them of one name.
            let is_told_apart = by_name && !is_merged && sizes().any(|known| Some(known) == *size);
            held.is_none_or(|held| match size.filter(|_| is_told_apart) {
                Some(size) => held.named.contains(&(name, size)) || held.has_bytes(key.2, size),
                None => {
                    is_of_size(held)
                        || sizes().next().is_none()
                        || self.may_lie_in(held, name, key.2)
                        || member.is_some_and(|member| member < self.common_with(ty, held, name))
                }
            })
        });
        self.contained.borrow_mut().insert(key, answer);
        answer
    }

    /// Whether a structure of this name occurs in what is declared as `ty`, or may do so.
    pub fn may_contain_named(&self, ty: DebugTypeId, structure: &str) -> bool {
        self.look(ty, |held| held.is_none_or(|held| held.structures.contains(structure)))
    }

    /// Whether characters occur in what is declared as `ty`, or may do so.
    pub fn has_characters(&self, ty: DebugTypeId) -> bool {
        size_of(self.program, ty) == 1 || self.look(ty, |held| held.is_none_or(|held| !held.has_no_bytes()))
    }

    /// Memory that is allocated for several is each of them.
    fn within(&self, ty: DebugTypeId, at: Option<u64>) -> Option<u64> {
        if self.goes_on[ty] {
            return at;
        }
        at.and_then(|at| at.checked_rem(size_of(self.program, ty)))
    }

    /// Whether every pointer in what is declared as `ty` is one that is accessed as `alias`.
    pub fn holds_only(&self, ty: DebugTypeId, alias: AliasTypeId) -> bool {
        self.look(ty, |held| held.is_some_and(|held| held.has_no_bytes() && held.holds_only(self.program, alias)))
    }

    /// The structures of this name: each file describes its own.
    pub fn named(&self, name: &str) -> &[DebugTypeId] {
        self.structures.get(name).map_or(&[], Vec::as_slice)
    }

    fn look<T>(&self, ty: DebugTypeId, answer: impl FnOnce(Option<&Held<'p>>) -> T) -> T {
        let mut known = self.held.borrow_mut();
        let held = known.entry(ty).or_insert_with(|| {
            let mut held = Held::default();
            held.add(self, ty, Some(0), DEEPEST).map(|()| held)
        });
        answer(held.as_ref())
    }

    fn may_lie_in(&self, held: &Held<'p>, structure: &str, at: Option<u64>) -> bool {
        held.structures.contains(structure) || held.has_bytes(at, self.least_size(structure))
    }

    /// How many bytes a structure of this name has in common with one that occurs in `ty`, at the most, from their beginning on.
    fn common_with(&self, ty: DebugTypeId, held: &Held<'p>, structure: &'p str) -> u64 {
        let named = self.named(structure);
        let common = || {
            let pairs = held.all.iter().flat_map(|one| named.iter().map(|other| (*one, *other)));
            pairs.map(|(one, other)| overlay::common(self.program, one, other)).max().unwrap_or(0)
        };
        *self.common.borrow_mut().entry((ty, structure)).or_insert_with(common)
    }

    /// Of a structure that debug information does not describe: nothing.
    fn least_size(&self, structure: &str) -> u64 {
        self.structures.get(structure).and_then(|all| all.first()).map_or(0, |id| self.program.debug_types[*id].size)
    }

    fn may_be_accessed(
        &self,
        (ty, held): (DebugTypeId, &Held<'p>),
        alias: AliasTypeId,
        at: Option<u64>,
        is_declared: bool,
    ) -> bool {
        match &self.program.alias_types[alias] {
            AliasType::Scalar { name, .. } => {
                !name.starts_with(POINTER_TO_STRUCTURE)
                    || held.has_other_pointers
                    || held.pointers.contains(name)
                    || held.has_bytes(at, self.program.layout.pointer_bytes.into())
            }
            AliasType::Member { structure, scalar, is_open, offset } => {
                let begin = at.map(|at| at.wrapping_sub(*offset));
                let is_there = match (structure.as_str(), is_open) {
                    ("", false) => held.has_bytes(at, 1) || held.unnamed.iter().any(|member| member.contains(offset)),
                    (_, false) => {
                        self.may_lie_in(held, structure, begin) || is_declared && *offset < self.common_with(ty, held, structure)
                    }
                    // The linker may have given it the name of another structure of the same form.
                    (_, true) => true,
                };
                is_there && self.may_be_accessed((ty, held), *scalar, at, is_declared)
            }
        }
    }
}

impl<'p> Held<'p> {
    fn holds_only(&self, program: &Program, alias: AliasTypeId) -> bool {
        match &program.alias_types[alias] {
            AliasType::Scalar { name, .. } => !self.has_other_pointers && self.pointers.iter().all(|pointer| pointer == name),
            AliasType::Member { scalar, .. } => self.holds_only(program, *scalar),
        }
    }

    fn has_no_bytes(&self) -> bool {
        self.bytes.is_empty() && self.largest_bytes == 0
    }

    /// Whether so many bytes fit into an array of single bytes there, or into any.
    fn has_bytes(&self, at: Option<u64>, size: u64) -> bool {
        let fits = |array: &Range<u64>| match at {
            Some(at) => array.start <= at && at.checked_add(size.max(1)).is_some_and(|end| end <= array.end),
            None => array.end - array.start >= size,
        };
        self.largest_bytes > 0 && self.largest_bytes >= size || self.bytes.iter().any(fits)
    }

    /// Adds what is in a type at `origin`, or in several places; `None` when that may be anything.
    fn add(&mut self, types: &Declarations<'p>, ty: DebugTypeId, origin: Option<u64>, depth: usize) -> Option<()> {
        let program = types.program;
        // Deeper than any program goes: damaged debug information.
        let depth = depth.checked_sub(1)?;
        match &program.debug_types[ty].kind {
            DebugTypeKind::Base { .. } => {}
            DebugTypeKind::Function { .. } => return None,
            DebugTypeKind::Alias { of, .. } => {
                let of = (*of)?;
                self.add(types, of, origin, depth)?;
            }
            DebugTypeKind::Pointer { to } => match to.and_then(|to| resolve(program, to)).map(|(_, to)| &to.kind) {
                Some(DebugTypeKind::Struct { name, .. }) if !name.is_empty() => {
                    self.pointers.insert(pointer_to_structure(name));
                }
                Some(DebugTypeKind::Function { .. }) => {}
                _ => self.has_other_pointers = true,
            },
            DebugTypeKind::Array { element, count } => {
                let element = (*element).filter(|element| size_of(program, *element) > 0)?;
                if size_of(program, element) == 1 {
                    // One without a length takes what comes behind it.
                    let length = count.filter(|count| *count > 0).unwrap_or(u64::MAX);
                    match origin {
                        Some(origin) => self.bytes.push(origin..origin.saturating_add(length)),
                        None => self.largest_bytes = self.largest_bytes.max(length),
                    }
                } else {
                    self.add(types, element, None, depth)?;
                }
            }
            DebugTypeKind::Struct { fields, .. } | DebugTypeKind::Union { fields, .. } if fields.is_empty() => return None,
            DebugTypeKind::Struct { name, fields } => {
                if name.is_empty() {
                    self.unnamed.extend(fields.iter().map(|field| {
                        let end = (field.offset_bits + field.size_bits).div_ceil(8);
                        field.offset_bits / 8..end.max(field.offset_bits / 8 + 1)
                    }));
                }
                self.structures.insert(name);
                self.structures.extend(types.typedefs.get(&ty).into_iter().flatten());
                let size = program.debug_types[ty].size;
                self.sizes.insert(size);
                self.named.insert((name, size));
                self.named.extend(types.typedefs.get(&ty).into_iter().flatten().map(|name| (*name, size)));
                self.all.insert(ty);
                fields.iter().try_for_each(|field| self.add_field(types, field, origin, depth))?;
            }
            DebugTypeKind::Union { fields, .. } => {
                fields.iter().try_for_each(|field| self.add_field(types, field, origin, depth))?;
            }
        }
        Some(())
    }

    fn add_field(&mut self, types: &Declarations<'p>, field: &Field, origin: Option<u64>, depth: usize) -> Option<()> {
        self.add(types, field.ty?, origin.map(|origin| origin.saturating_add(field.offset_bits / 8)), depth)
    }
}

/// Whether a structure ends with an array without a length, or with one of none or one element, which may stand for any number.
pub(super) fn goes_on(program: &Program, ty: DebugTypeId) -> bool {
    let Some((_, DebugType { kind: DebugTypeKind::Struct { fields, .. }, .. })) = resolve(program, ty) else { return false };
    let last = fields.iter().max_by_key(|field| field.offset_bits).and_then(|field| resolve(program, field.ty?));
    matches!(last, Some((_, DebugType { kind: DebugTypeKind::Array { count: None | Some(0 | 1), .. }, .. })))
}

fn is_without_name(kind: &DebugTypeKind) -> bool {
    matches!(kind, DebugTypeKind::Struct { name, fields } if name.is_empty() && !fields.is_empty())
}

/// How the compiler's names of pointers to structures begin; the length of the structure's name and the name follow.
const POINTER_TO_STRUCTURE: &str = "p1 _ZTS";

fn pointer_to_structure(name: &str) -> String {
    format!("{POINTER_TO_STRUCTURE}{}{name}", name.len())
}

/// The structure that a type of accesses is a pointer to.
pub(super) fn structure_pointed_to(alias: &AliasType) -> Option<&str> {
    let AliasType::Scalar { name, .. } = alias else { return None };
    let name = name.strip_prefix(POINTER_TO_STRUCTURE)?;
    Some(name.trim_start_matches(|digit: char| digit.is_ascii_digit())).filter(|name| !name.is_empty())
}
