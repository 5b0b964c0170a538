//! Terms as text, for people who look at an analysis.

use super::pure::signed;
use super::term::{Table, Term, TermId};
use crate::program::Program;

pub(super) fn show(program: &Program, table: &Table, term: TermId) -> String {
    match table.get(term) {
        Term::Integer { bits, value } => signed(*bits, *value).to_string(),
        Term::Global(global) => format!("&{}", program.globals[*global].name),
        Term::Function(function) => format!("&{}", program.functions[*function].name),
        Term::Constant(constant) => format!("constant {}", usize::from(*constant)),
        Term::Leaf { register, .. } => format!("%{}", usize::from(*register)),
        Term::Sum { bits, constant, parts } => {
            let part = |(part, factor): &(TermId, u64)| match signed(*bits, *factor) {
                1 => show(program, table, *part),
                factor => format!("{factor}·{}", show(program, table, *part)),
            };
            let mut shown: Vec<String> = parts.iter().map(part).collect();
            if *constant != 0 {
                shown.push(signed(*bits, *constant).to_string());
            }
            format!("({})", shown.join(" + "))
        }
        Term::Operation { operation, bits, operands } => {
            let operands: Vec<String> = operands.iter().map(|operand| show(program, table, *operand)).collect();
            format!("{operation:?}.{bits}({})", operands.join(", "))
        }
        Term::Object => "object".to_owned(),
        Term::Coordinate(number) => format!("u{number}"),
    }
}
