//! Parts of a type by byte offset: `.balance`, `[3].limit`, `.{ready, done}`.

use crate::program::{DebugType, DebugTypeId, DebugTypeKind, Field, Program};

/// One step from a value into a part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A member; several when an access covers adjacent bit-fields, or several whole members.
    Field(Vec<String>),
    Index(String),
}

/// An index that is not constant: its text, and how many bytes one more of it is.
#[derive(Clone, Debug)]
pub struct VariableIndex {
    pub text: String,
    pub stride: u64,
}

/// The part that `size` bytes at a constant offset, and at variable indices beyond it, are.
pub struct Part {
    pub steps: Vec<Step>,
    /// The type of the part, when it is one part.
    pub ty: Option<DebugTypeId>,
}

/// What is looked for inside a type.
#[derive(Clone, Copy)]
pub enum Extent {
    /// This many bytes.
    Bytes(u64),
    /// Whatever begins there: the largest part, or one level below it when the address was computed by a step into it.
    Unknown { steps_in: bool },
}

/// The type without typedefs and qualifiers.
pub fn resolve(program: &Program, ty: DebugTypeId) -> Option<(DebugTypeId, &DebugType)> {
    let mut id = ty;
    // A chain of aliases longer than the table is a circle, which damaged debug information may have.
    for _ in 0..=program.debug_types.len() {
        let content = program.debug_types.get(id)?;
        match &content.kind {
            DebugTypeKind::Alias { of, .. } => id = (*of)?,
            _ => return Some((id, content)),
        }
    }
    None
}

pub fn size_of(program: &Program, ty: DebugTypeId) -> u64 {
    resolve(program, ty).map_or(0, |(_, content)| content.size)
}

/// What a pointer type points to.
pub fn pointee(program: &Program, ty: DebugTypeId) -> Option<DebugTypeId> {
    match resolve(program, ty)?.1.kind {
        DebugTypeKind::Pointer { to } => to,
        _ => None,
    }
}

/// Walks from a type to the part that an access touches.
pub fn part(program: &Program, ty: DebugTypeId, mut offset: u64, mut indices: Vec<VariableIndex>, extent: Extent) -> Part {
    let mut steps: Vec<Step> = Vec::new();
    let mut current = ty;
    loop {
        let Some((_, content)) = resolve(program, current) else { return Part { steps, ty: None } };
        let is_start = offset == 0 && indices.is_empty();
        let (is_whole, size) = match extent {
            Extent::Bytes(size) => (is_start && content.size <= size, size),
            Extent::Unknown { steps_in } => (is_start && !(steps_in && steps.is_empty()), 1),
        };
        match &content.kind {
            // A struct around a single member is named by its member.
            DebugTypeKind::Struct { fields, .. } | DebugTypeKind::Union { fields, .. }
                if !is_whole || fields.len() == 1 && matches!(extent, Extent::Bytes(size) if size == content.size) =>
            {
                match covering(program, fields, offset, &indices, size) {
                    Covered::One(field) => {
                        if !field.name.is_empty() {
                            steps.push(Step::Field(vec![field.name.clone()]));
                        }
                        offset = offset.saturating_sub(field.offset_bits / 8);
                        let Some(next) = field.ty else { return Part { steps, ty: None } };
                        current = next;
                    }
                    Covered::Several(names) => {
                        steps.push(Step::Field(names));
                        return Part { steps, ty: None };
                    }
                    Covered::None => return Part { steps, ty: None },
                }
            }
            DebugTypeKind::Array { element: Some(element), .. } if !is_whole => {
                let stride = size_of(program, *element);
                // Several elements at once are a part of the array, not one of them.
                if stride == 0 || size > stride {
                    return Part { steps, ty: None };
                }
                let variable = indices.iter().position(|index| index.stride == stride).map(|at| indices.remove(at).text);
                steps.push(Step::Index(index_text(variable, offset / stride)));
                offset %= stride;
                current = *element;
            }
            _ => return Part { steps, ty: is_start.then_some(current) },
        }
    }
}

pub fn index_text(variable: Option<String>, constant: u64) -> String {
    match (variable, constant) {
        (Some(text), 0) => text,
        (Some(text), constant) => format!("{text} + {constant}"),
        (None, constant) => constant.to_string(),
    }
}

enum Covered<'a> {
    One(&'a Field),
    Several(Vec<String>),
    None,
}

/// The members that an access touches.
fn covering<'a>(program: &Program, fields: &'a [Field], offset: u64, indices: &[VariableIndex], size: u64) -> Covered<'a> {
    // A size that is not known may be as large as sizes get.
    let (start, end) = (offset.saturating_mul(8), offset.saturating_add(size.max(1)).saturating_mul(8));
    // With a variable index the access lies somewhere in the member that the constant part leads to.
    let touched: Vec<&Field> = fields
        .iter()
        .filter(|field| {
            let field_end = field.offset_bits + field_bits(program, field);
            if indices.is_empty() {
                field.offset_bits < end && start < field_end
            } else {
                field.offset_bits <= start && start < field_end
            }
        })
        .collect();
    let exact = |field: &&&Field| field.offset_bits == start && field_bits(program, field) == size * 8;
    let holds = |field: &&&Field| field.offset_bits <= start && end <= field.offset_bits + field_bits(program, field);
    match touched.as_slice() {
        [] => last_flexible(program, fields, offset),
        [field] => Covered::One(field),
        _ => match touched.iter().find(exact).or_else(|| touched.iter().find(holds)) {
            // The members of a union lie over each other.
            Some(field) => Covered::One(field),
            None if !indices.is_empty() => Covered::One(touched[0]),
            None => Covered::Several(touched.iter().map(|field| field.name.clone()).filter(|name| !name.is_empty()).collect()),
        },
    }
}

/// A member at the end without a size: `char text[]`.
fn last_flexible<'a>(program: &Program, fields: &'a [Field], offset: u64) -> Covered<'a> {
    match fields.last() {
        Some(field) if field_bits(program, field) == 0 && field.offset_bits / 8 <= offset => Covered::One(field),
        _ => Covered::None,
    }
}

fn field_bits(program: &Program, field: &Field) -> u64 {
    if field.size_bits != 0 { field.size_bits } else { field.ty.map_or(0, |ty| size_of(program, ty) * 8) }
}

/// The steps as C writes them after a name.
pub fn render(steps: &[Step]) -> String {
    let mut text = String::new();
    for step in steps {
        match step {
            Step::Field(names) => text += &format!(".{}", field_text(names)),
            Step::Index(index) => text += &format!("[{index}]"),
        }
    }
    text
}

pub fn field_text(names: &[String]) -> String {
    match names {
        [name] => name.clone(),
        names => format!("{{{}}}", names.join(", ")),
    }
}
