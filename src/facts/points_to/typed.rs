//! Typed pointers: what a pointer points to of which nothing better is known.
//!
//! # Definition   A node is *typed* if it is what is loaded or stored as a pointer to a structure, to characters or to functions, or as a number (clang's types of accesses, the member's
//!                declaration), or a register that is the value of variables that are such pointers or numbers, and of no others. A location *fits* if its object is declared, or allocated, as
//!                something in which the structure, or an array of characters, occurs, or as nothing that is known; functions fit pointers to functions alone, and nothing fits a number.
//! # Theorem      None: C lets a pointer point to something else until it is used. A pointer that is found to point to very many places (`crowd`) is one of which the analysis has
//!                lost track: void pointers in lists, tables of everything. What its type says is then the better knowledge, so that a typed crowd takes only what fits, and a call through a crowd of functions reaches those to whose parameters its arguments fit. Where something was
//!                left out for this reason, the program rests on the assumption `typed-pointer`, and programs that are not large are looked at again without it (`allocation`).
//! # Paper        Types as a filter of inclusions: Lhoták, Hendren 2003 (for Java, where the theorem holds).

use std::rc::Rc;

use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;

use super::allocation::Allocated;
use super::declared::{Declarations, structure_pointed_to};
use super::form::Form;
use super::known::Fit;
use super::object::{AbstractObject, AbstractObjectKind};
use super::signature::{SetId, Signatures, function_pointed_to};
use crate::program::describe::{pointee, resolve};
use crate::program::{AliasType, DebugTypeId, DebugTypeKind, Function, FunctionId, Operand, Program, SiteId};

/// The number of what pointers point to; `None` where nothing is said.
pub(super) type Pointed = Option<u16>;
const CHARACTERS: u16 = 0;
const CODE: u16 = 1;
const NUMBERS: u16 = 2;
const FIRST_STRUCTURE: usize = 3;

#[derive(Debug, Default)]
pub(super) struct TypedPointers {
    numbers: FxHashMap<String, u16>,
    /// Of structures, in the order of their numbers.
    names: Vec<String>,
    parameters: FxHashMap<FunctionId, Rc<[Pointed]>>,
    alike: FxHashMap<(u16, u16), bool>,
    /// What fits whom, by what objects are declared as.
    fits: FxHashMap<DebugTypeId, Fit>,
    untyped: Fit,
    /// Their numbers come after those of structures.
    signatures: Signatures,
}

impl TypedPointers {
    pub fn of<'p>(program: &'p Program, declarations: &Declarations<'p>, allocated: Allocated) -> TypedPointers {
        let mut found = TypedPointers::default();
        if allocated == Allocated::AsAnything {
            return found;
        }
        let accessed = program.alias_types.iter().filter_map(structure_pointed_to);
        let declared = program.variables.iter().filter_map(|variable| structure_of_pointer(program, variable.ty?));
        for name in accessed.chain(declared) {
            // One that nobody describes may be anything.
            if !declarations.named(name).is_empty() && !found.numbers.contains_key(name) {
                let Ok(number) = u16::try_from(FIRST_STRUCTURE + found.numbers.len()) else { break };
                found.numbers.insert(name.to_owned(), number);
                found.names.push(name.to_owned());
            }
        }
        found.signatures = Signatures::of(program, declarations);
        let mut fitting = FixedBitSet::with_capacity(found.len());
        fitting.insert_range(..found.first_signature());
        fitting.set(CODE.into(), false);
        fitting.set(NUMBERS.into(), false);
        found.untyped = Fit::some(fitting);
        found
    }

    fn first_signature(&self) -> usize {
        FIRST_STRUCTURE + self.numbers.len()
    }

    fn len(&self) -> usize {
        self.first_signature() + self.signatures.len()
    }

    fn is_code(&self, number: u16) -> bool {
        number == CODE || usize::from(number) >= self.first_signature()
    }

    fn of_signatures(&self, set: SetId) -> u16 {
        u16::try_from(self.first_signature() + set).unwrap_or(CODE)
    }

    /// What the pointer points to that a call goes through.
    pub fn of_call(&self, site: SiteId) -> Pointed {
        self.signatures.through(site).map(|set| self.of_signatures(set))
    }

    /// What is accessed with this form.
    pub fn of_form(&self, program: &Program, form: Form) -> Pointed {
        let alias = form.alias.filter(|_| !self.numbers.is_empty())?;
        let scalar = match &program.alias_types[alias] {
            AliasType::Member { scalar, .. } => {
                if let Some(set) = self.signatures.of_member(alias) {
                    return Some(set.map_or(CODE, |set| self.of_signatures(set)));
                }
                &program.alias_types[*scalar]
            }
            scalar => scalar,
        };
        match scalar {
            AliasType::Scalar { name, .. } if name == POINTER_TO_CHARACTERS => Some(CHARACTERS),
            _ if program.is_number(alias) => Some(NUMBERS),
            _ => self.numbers.get(structure_pointed_to(scalar)?).copied(),
        }
    }

    fn of_pointer(&self, program: &Program, ty: DebugTypeId) -> Pointed {
        if self.numbers.is_empty() {
            return None;
        }
        if function_pointed_to(program, ty).is_some() {
            return Some(self.signatures.of_pointer(program, ty).map_or(CODE, |set| self.of_signatures(set)));
        }
        if matches!(resolve(program, ty)?.1.kind, DebugTypeKind::Base { .. }) {
            return Some(NUMBERS);
        }
        let to = resolve(program, pointee(program, ty)?)?.1;
        match &to.kind {
            DebugTypeKind::Base { .. } if to.size == 1 => Some(CHARACTERS),
            _ => self.numbers.get(structure_of_pointer(program, ty)?).copied(),
        }
    }

    /// By register.
    pub fn of_registers(&self, program: &Program, function: &Function) -> Vec<Pointed> {
        let mut said: Vec<Option<Pointed>> = vec![None; function.registers.len()];
        for binding in function.bindings.iter().filter(|binding| !binding.is_address) {
            let Operand::Register(register) = binding.value else { continue };
            let number = program.variables[binding.variable].ty.and_then(|ty| self.of_pointer(program, ty));
            let known = said[usize::from(register)].get_or_insert(number);
            *known = known.filter(|known| Some(*known) == number);
        }
        said.into_iter().map(Option::flatten).collect()
    }

    /// What a function's parameters point to.
    pub fn of_parameters(&mut self, program: &Program, callee: FunctionId) -> Rc<[Pointed]> {
        if let Some(known) = self.parameters.get(&callee) {
            return known.clone();
        }
        let function = &program.functions[callee];
        let registers = self.of_registers(program, function);
        let found: Rc<[Pointed]> =
            function.parameters.iter().map(|parameter| registers[usize::from(parameter.register)]).collect();
        self.parameters.insert(callee, found.clone());
        found
    }

    /// Whether a function is called through pointers like this one.
    pub fn may_be_called_through(&self, callee: FunctionId, pointer: u16) -> bool {
        let signature = usize::from(pointer).checked_sub(self.first_signature());
        signature.is_none_or(|signature| self.signatures.is_taken_as(callee, signature))
    }

    /// Whether a pointer to one may be passed for a pointer to the other: one may be the beginning of the other.
    pub fn may_be_passed_for(&mut self, declarations: &Declarations<'_>, given: u16, taken: u16) -> bool {
        if given == taken || self.is_code(given) && self.is_code(taken) {
            return true;
        }
        let name = |number: u16| self.names.get(usize::from(number).checked_sub(FIRST_STRUCTURE)?);
        let (Some(one), Some(other)) = (name(given), name(taken)) else { return false };
        *self.alike.entry((given, taken)).or_insert_with(|| {
            let contains =
                |outer: &str, inner: &str| declarations.named(outer).iter().any(|ty| declarations.may_contain_named(*ty, inner));
            contains(one, other) || contains(other, one)
        })
    }

    /// Which pointers an object fits.
    pub fn fit(&mut self, declarations: &Declarations<'_>, object: &AbstractObject) -> Fit {
        let mut fitting = FixedBitSet::with_capacity(self.len());
        if matches!(object.kind, AbstractObjectKind::Unknown | AbstractObjectKind::Residue | AbstractObjectKind::Key(_)) {
            return Fit::all();
        }
        if let AbstractObjectKind::Function(function) = object.kind {
            fitting.insert(CODE.into());
            for signature in 0..self.signatures.len() {
                fitting.set(self.first_signature() + signature, self.signatures.is_taken_as(function, signature));
            }
            return Fit::some(fitting);
        }
        if object.is_code() {
            fitting.insert_range(self.first_signature()..);
            fitting.insert(CODE.into());
            return Fit::some(fitting);
        }
        if object.kind == AbstractObjectKind::Texts {
            fitting.insert(CHARACTERS.into());
            return Fit::some(fitting);
        }
        let Some(ty) = object.ty else { return self.untyped.clone() };
        if let Some(known) = self.fits.get(&ty) {
            return known.clone();
        }
        fitting.set(CHARACTERS.into(), declarations.has_characters(ty));
        for (name, number) in &self.numbers {
            fitting.set(usize::from(*number), declarations.may_contain_named(ty, name));
        }
        let fit = Fit::some(fitting);
        self.fits.insert(ty, fit.clone());
        fit
    }
}

/// How the compiler calls pointers to characters.
const POINTER_TO_CHARACTERS: &str = "p1 omnipotent char";

/// The name of the structure that pointers of this type point to.
fn structure_of_pointer(program: &Program, ty: DebugTypeId) -> Option<&str> {
    let to = pointee(program, ty)?;
    match &resolve(program, to)?.1.kind {
        DebugTypeKind::Struct { name, .. } if !name.is_empty() => Some(name),
        _ => None,
    }
}
