//! Debug information and assumptions to text.

use super::cursor::quote;
use super::writer::Writer;
use crate::program::{AliasType, Assumption, Binding, DebugType, DebugTypeId, DebugTypeKind, Field, FileId, Location, Variable};

pub fn print_location(out: &mut Writer<'_>, location: &Location) {
    out.id("f", location.file)
        .word(" ")
        .number(location.line)
        .word(" ")
        .number(location.column)
        .word(" ")
        .quoted(&location.function);
    if let Some(outer) = location.inlined_at {
        out.id(" inlined l", outer);
    }
    out.word("\n");
}

/// ` at f0 12`, or nothing when neither is known.
pub fn print_file_and_line(file: Option<FileId>, line: u32) -> String {
    let file = file.map_or("-".to_owned(), |file| format!("f{}", usize::from(file)));
    if file == "-" && line == 0 { String::new() } else { format!(" at {file} {line}") }
}

pub fn print_variable(variable: &Variable) -> String {
    format!("{}{}{}", quote(&variable.name), print_type_reference(variable.ty), print_file_and_line(variable.file, variable.line))
}

pub fn print_alias_type(ty: &AliasType) -> String {
    match ty {
        AliasType::Scalar { name, parent } => {
            format!("{}{}", quote(name), parent.map_or(String::new(), |parent| format!(" a{}", usize::from(parent))))
        }
        AliasType::Member { structure, offset, scalar, is_open } => {
            let how = if *is_open { "open " } else { "" };
            format!("{how}member {} {offset} a{}", quote(structure), usize::from(*scalar))
        }
    }
}

pub fn print_binding(out: &mut Writer<'_>, binding: &Binding) {
    let how = if binding.is_address { " at " } else { " is " };
    out.id("  binding v", binding.variable).word(how).operand(binding.value).word("\n");
}

pub fn print_type_reference(ty: Option<DebugTypeId>) -> String {
    ty.map_or(String::new(), |ty| format!(" type t{}", usize::from(ty)))
}

pub fn print_debug_type(ty: &DebugType) -> String {
    let fields = |fields: &[Field]| {
        let field = |field: &Field| {
            format!("{} {} {}{}", quote(&field.name), field.offset_bits, field.size_bits, print_type_reference(field.ty))
        };
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
        DebugTypeKind::Function { result, parameters, is_variadic } => {
            let parameters: Vec<String> = parameters.iter().map(|ty| format!("t{}", usize::from(*ty))).collect();
            let more = if *is_variadic { " variadic" } else { "" };
            let returns = result.map_or(String::new(), |result| format!(" returns t{}", usize::from(result)));
            format!("function ({}){more}{returns}", parameters.join(", "))
        }
    };
    format!("size {} {kind}", ty.size)
}

pub fn print_assumption(assumption: &Assumption) -> String {
    let place = assumption
        .place
        .as_ref()
        .map_or(String::new(), |place| format!(" at {} {} {}", quote(&place.file), place.line, place.column));
    format!("{} {}{place}", assumption.kind.name(), quote(&assumption.what))
}
