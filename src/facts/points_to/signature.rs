//! Signatures: through pointers of which types a function is called.
//!
//! # Definition   Types of functions are *alike* if they have as many parameters, and these and the results are alike without typedefs and qualifiers: numbers of one size, pointers to structures of one name, pointers to
//!                the like. A function is *taken as* the types of the places into which its address is written by name: members, variables, parameters, results, and what globals begin with; as its own; and as what pointers of such a type are cast to where they are written. One that is written into a place of which the type is
//!                not known is taken as anything; one that is kept as `void *`, or as a number, is not taken as anything else by that.
//! # Theorem      C gives a meaning only to calls through a pointer to a type that is like the function's own (C17 6.5.2.2p9), but programs cast: `free_member = (void (*)(void *))free_node`. Most casts stand where a function is
//!                named, or a pointer of a known type is written. That there are no others (through `void *`, say) C does not say, so that signatures are types of pointers like others (`typed`), and believed where all else is lost.
//! # Paper        Type-based control-flow integrity, where the same is enforced as programs run: Tice et al. 2014.
//! # Deviations   Structures of one name are one. A pointer to a function among the parameters is like every other.

use rustc_hash::{FxHashMap, FxHashSet};
use typed_index_collections::TiVec;

use super::declared::Declarations;
use super::place::members_of_alias;
use super::taken::{self, Through};
use crate::program::describe::{pointee, resolve};
use crate::program::{AliasType, AliasTypeId, DebugTypeId, DebugTypeKind, Function, FunctionId, Program, SiteId};

type SignatureId = u32;

/// The number of a set of signatures: a member of a union may be several.
pub(super) type SetId = usize;

/// What a function is taken as.
#[derive(Clone, Debug, Default)]
struct Taken {
    signatures: FxHashSet<SignatureId>,
    as_anything: bool,
}

#[derive(Debug, Default)]
pub(super) struct Signatures {
    numbers: FxHashMap<String, SignatureId>,
    /// By type of a function; `None` where nothing is said of parameters.
    of_types: FxHashMap<DebugTypeId, Option<SignatureId>>,
    sets: Vec<Vec<SignatureId>>,
    set_numbers: FxHashMap<Vec<SignatureId>, SetId>,
    /// Signatures as which pointers to functions of another one are written somewhere; `None` for a type that says nothing of parameters.
    casts: FxHashMap<SignatureId, FxHashSet<Option<SignatureId>>>,
    /// Empty if nobody asked.
    taken: TiVec<FunctionId, Taken>,
    through: Through,
    /// Of those that are pointers to functions; `None` where nothing is said of parameters.
    of_members: FxHashMap<AliasTypeId, Option<SetId>>,
}

impl Signatures {
    pub fn of<'p>(program: &'p Program, declarations: &Declarations<'p>) -> Signatures {
        let mut found = Signatures::default();
        for (id, ty) in program.debug_types.iter_enumerated() {
            if let DebugTypeKind::Function { parameters, is_variadic, .. } = &ty.kind {
                let next = found.numbers.len() as SignatureId;
                let says_something = !(parameters.is_empty() && *is_variadic);
                let number = says_something.then(|| *found.numbers.entry(text_of(program, id)).or_insert(next));
                found.of_types.insert(id, number);
                number.map(|number| found.set(vec![number]));
            }
        }
        let own = |function: &Function| found.signature(program, function.debug_type?);
        let taken = program.functions.iter().map(own);
        found.taken = taken.map(|own| Taken { signatures: own.into_iter().collect(), as_anything: own.is_none() }).collect();
        found.through = taken::find(program, declarations, &mut found);
        found.follow_casts();
        for (id, alias) in program.alias_types.iter_enumerated() {
            if let AliasType::Member { .. } = alias {
                let types = members_of_alias(program, declarations, id);
                // Said only where all structures of the name agree.
                if !types.is_empty() && types.iter().all(|ty| function_pointed_to(program, *ty).is_some()) {
                    let set = found.set_of(program, &types);
                    found.of_members.insert(id, set);
                }
            }
        }
        found
    }

    /// How many sets there are.
    pub fn len(&self) -> usize {
        self.sets.len()
    }

    /// Whether a function may be called through pointers to functions of one of these signatures.
    pub fn is_taken_as(&self, function: FunctionId, set: SetId) -> bool {
        let taken = self.taken.get(function);
        taken.is_none_or(|taken| taken.as_anything || self.sets[set].iter().any(|one| taken.signatures.contains(one)))
    }

    /// What the call's pointer says it points to.
    pub fn through(&self, call: SiteId) -> Option<SetId> {
        self.through.get(&call).copied()
    }

    /// Of an access to a member that is a pointer to functions.
    pub fn of_member(&self, alias: AliasTypeId) -> Option<Option<SetId>> {
        self.of_members.get(&alias).copied()
    }

    /// Of a pointer, if it is one to functions of which something is said.
    pub fn of_pointer(&self, program: &Program, pointer: DebugTypeId) -> Option<SetId> {
        let signature = self.signature(program, function_pointed_to(program, pointer)?)?;
        self.set_numbers.get([signature].as_slice()).copied()
    }

    /// Of a place that has one of these types; `None` where a function may be kept as something else.
    pub fn set_of(&mut self, program: &Program, types: &[DebugTypeId]) -> Option<SetId> {
        let mut set = Vec::new();
        for ty in types {
            match function_pointed_to(program, *ty) {
                Some(function) => set.push(self.signature(program, function)?),
                None if is_pointer_to_anything(program, *ty) => return None,
                None => {}
            }
        }
        set.sort_unstable();
        set.dedup();
        (!set.is_empty()).then(|| self.set(set))
    }

    fn set(&mut self, set: Vec<SignatureId>) -> SetId {
        let sets = &mut self.sets;
        *self.set_numbers.entry(set).or_insert_with_key(|set| {
            sets.push(set.clone());
            sets.len() - 1
        })
    }

    fn signature(&self, program: &Program, function: DebugTypeId) -> Option<SignatureId> {
        self.of_types.get(&resolve(program, function)?.0).copied().flatten()
    }

    /// Pointers of one of the former types become pointers of the latter.
    pub fn cast(&mut self, program: &Program, from: &[DebugTypeId], to: &[DebugTypeId]) {
        let functions = |types: &[DebugTypeId]| -> Vec<Option<SignatureId>> {
            let functions = types.iter().filter_map(|ty| function_pointed_to(program, *ty));
            functions.map(|ty| self.signature(program, ty)).collect()
        };
        let (from, to) = (functions(from), functions(to));
        for signature in from.into_iter().flatten() {
            let others = to.iter().filter(|other| **other != Some(signature));
            self.casts.entry(signature).or_default().extend(others);
        }
    }

    /// What is taken as one signature is taken as those it is cast to.
    fn follow_casts(&mut self) {
        for taken in &mut self.taken {
            let mut open: Vec<SignatureId> = taken.signatures.iter().copied().collect();
            while let Some(signature) = open.pop() {
                for to in self.casts.get(&signature).into_iter().flatten() {
                    match to {
                        Some(to) if taken.signatures.insert(*to) => open.push(*to),
                        Some(_) => {}
                        None => taken.as_anything = true,
                    }
                }
            }
        }
    }

    /// The function's address is written into a place that has one of these types, or into an unknown one if there are none.
    pub fn take(&mut self, program: &Program, function: FunctionId, types: &[DebugTypeId]) {
        let pointers = types.iter().filter_map(|ty| function_pointed_to(program, *ty));
        let signatures: Vec<Option<SignatureId>> = pointers.map(|ty| self.signature(program, ty)).collect();
        let taken = &mut self.taken[function];
        taken.as_anything |= types.is_empty() || signatures.contains(&None);
        taken.signatures.extend(signatures.into_iter().flatten());
    }
}

/// The type of functions that pointers of this type point to.
pub(super) fn function_pointed_to(program: &Program, ty: DebugTypeId) -> Option<DebugTypeId> {
    let (id, to) = resolve(program, pointee(program, ty)?)?;
    matches!(to.kind, DebugTypeKind::Function { .. }).then_some(id)
}

/// `void *`.
fn is_pointer_to_anything(program: &Program, ty: DebugTypeId) -> bool {
    match resolve(program, ty).map(|(_, ty)| &ty.kind) {
        Some(DebugTypeKind::Pointer { to }) => to.and_then(|to| resolve(program, to)).is_none(),
        _ => false,
    }
}

/// A type of functions, written out.
fn text_of(program: &Program, function: DebugTypeId) -> String {
    let mut text = String::new();
    if let DebugTypeKind::Function { result, parameters, is_variadic } = &program.debug_types[function].kind {
        write_type(program, *result, &mut text);
        text.push('(');
        for parameter in parameters {
            write_type(program, Some(*parameter), &mut text);
            text.push(',');
        }
        text.push_str(if *is_variadic { "...)" } else { ")" });
    }
    text
}

fn write_type(program: &Program, ty: Option<DebugTypeId>, text: &mut String) {
    let (mut at, mut name) = (ty, "");
    // As many steps as there are types: debug information that is damaged may go round in circles.
    for _ in 0..=program.debug_types.len() {
        let Some(content) = at.and_then(|ty| program.debug_types.get(ty)) else { return text.push_str("void") };
        match &content.kind {
            DebugTypeKind::Alias { name: alias, of } => {
                name = if alias.is_empty() { name } else { alias };
                at = *of;
            }
            DebugTypeKind::Pointer { to: of } | DebugTypeKind::Array { element: of, .. } => {
                text.push('*');
                (at, name) = (*of, "");
            }
            DebugTypeKind::Base { .. } => return text.push_str(&content.size.to_string()),
            DebugTypeKind::Struct { name: tag, .. } | DebugTypeKind::Union { name: tag, .. } => {
                return text.push_str(if tag.is_empty() { name } else { tag });
            }
            DebugTypeKind::Function { .. } => return text.push_str("()"),
        }
    }
}
