//! Names from debug information: types with their fields, variables, and which register holds which variable.

use super::{DebugTypeId, FileId, Operand, VariableId};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DebugType {
    pub kind: DebugTypeKind,
    /// In bytes; 0 when unknown.
    pub size: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DebugTypeKind {
    /// `int`, `double`, an enumeration, …
    Base {
        name: String,
    },
    Pointer {
        to: Option<DebugTypeId>,
    },
    /// `name` is empty for an anonymous struct.
    Struct {
        name: String,
        fields: Vec<Field>,
    },
    Union {
        name: String,
        fields: Vec<Field>,
    },
    Array {
        element: Option<DebugTypeId>,
        count: Option<u64>,
    },
    /// A typedef, or `const`, `volatile`, `restrict`, `_Atomic` (then `name` is empty).
    Alias {
        name: String,
        of: Option<DebugTypeId>,
    },
    /// Of a function; `None` where it returns nothing. Variadic without parameters: nothing is said of them.
    Function {
        result: Option<DebugTypeId>,
        parameters: Vec<DebugTypeId>,
        is_variadic: bool,
    },
}

impl DebugTypeKind {
    /// The types that it is made of.
    pub fn parts(&self) -> impl Iterator<Item = DebugTypeId> {
        let (one, fields, parameters): (Option<DebugTypeId>, &[Field], &[DebugTypeId]) = match self {
            Self::Base { .. } => (None, &[], &[]),
            Self::Pointer { to: one } | Self::Array { element: one, .. } | Self::Alias { of: one, .. } => (*one, &[], &[]),
            Self::Struct { fields, .. } | Self::Union { fields, .. } => (None, fields, &[]),
            Self::Function { result, parameters, .. } => (*result, &[], parameters),
        };
        one.into_iter().chain(fields.iter().filter_map(|field| field.ty)).chain(parameters.iter().copied())
    }
}

/// A member of a struct or union. Bit-fields have a bit range inside their bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Empty for an anonymous member.
    pub name: String,
    pub offset_bits: u64,
    pub size_bits: u64,
    pub ty: Option<DebugTypeId>,
}

/// A variable of the source: a local or a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    pub name: String,
    pub ty: Option<DebugTypeId>,
    pub file: Option<FileId>,
    pub line: u32,
}

/// A value that debug information names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Binding {
    pub variable: VariableId,
    pub value: Operand,
    /// The value is the variable's address (a stack slot), not its content.
    pub is_address: bool,
}
