//! Debug information and assumptions to text.

use super::cursor::quote;
use super::print::print_operand;
use crate::program::{Assumption, Binding, DebugType, DebugTypeId, DebugTypeKind, Field, FileId, Location, Program, Variable};

pub fn print_location(location: &Location) -> String {
    let inlined = location.inlined_at.map_or(String::new(), |at| format!(" inlined l{}", usize::from(at)));
    format!("f{} {} {} {}{inlined}", usize::from(location.file), location.line, location.column, quote(&location.function))
}

/// ` at f0 12`, or nothing when neither is known.
pub fn print_file_and_line(file: Option<FileId>, line: u32) -> String {
    let file = file.map_or("-".to_owned(), |file| format!("f{}", usize::from(file)));
    if file == "-" && line == 0 { String::new() } else { format!(" at {file} {line}") }
}

pub fn print_variable(variable: &Variable) -> String {
    format!("{}{}{}", quote(&variable.name), print_type_reference(variable.ty), print_file_and_line(variable.file, variable.line))
}

pub fn print_binding(program: &Program, binding: &Binding) -> String {
    let how = if binding.is_address { "at" } else { "is" };
    format!("binding v{} {how} {}", usize::from(binding.variable), print_operand(program, binding.value))
}

fn print_type_reference(ty: Option<DebugTypeId>) -> String {
    ty.map_or(String::new(), |ty| format!(" type t{}", usize::from(ty)))
}

pub fn print_debug_type(ty: &DebugType) -> String {
    let fields = |fields: &[Field]| {
        let field = |field: &Field| format!("{} {} {}{}", quote(&field.name), field.offset_bits, field.size_bits, print_type_reference(field.ty));
        fields.iter().map(field).collect::<Vec<_>>().join(", ")
    };
    let kind = match &ty.kind {
        DebugTypeKind::Base { name } => format!("base {}", quote(name)),
        DebugTypeKind::Pointer { to } => format!("pointer{}", print_type_reference(*to)),
        DebugTypeKind::Struct { name, fields: members } => format!("struct {} {{{}}}", quote(name), fields(members)),
        DebugTypeKind::Union { name, fields: members } => format!("union {} {{{}}}", quote(name), fields(members)),
        DebugTypeKind::Array { element, count } => {
            let count = count.map_or(String::new(), |count| format!(" count {count}"));
            format!("array{count}{}", print_type_reference(*element))
        }
        DebugTypeKind::Alias { name, of } => format!("alias {}{}", quote(name), print_type_reference(*of)),
        DebugTypeKind::Function => "function".to_owned(),
    };
    format!("size {} {kind}", ty.size)
}

pub fn print_assumption(assumption: &Assumption) -> String {
    let place = assumption.place.as_ref().map_or(String::new(), |place| format!(" at {} {} {}", quote(&place.file), place.line, place.column));
    format!("{} {}{place}", assumption.kind.name(), quote(&assumption.what))
}
