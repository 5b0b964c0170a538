//! The text form of a program: printed, read by people, and parsed back to the same thing.
//!
//! One item a line. The first line is `lockcheck program 1`. Items: `target`, `file`, `location`, `type`, `variable`, `site`, `global`,
//! `function` (with blocks up to a line `}`), `constructor`, `destructor`, `assumption`. An instruction is
//! `%result: type = operation operands !s12`; where `!s12` is missing the instruction gets a site of its own, so that tests can be
//! written by hand. A block's predecessors follow from the jumps and are not written.
//!
//! # Theorem   `parse(print(p)) == p` for every valid `p` whose constants are numbered as [`Program::renumber_constants`] does.

mod constant;
mod cursor;
mod parse;
mod parse_debug;
mod parse_function;
mod parse_global;
mod parse_operation;
mod print;
mod print_debug;
mod print_operation;
mod words;
mod writer;

pub use parse::{ParseError, parse};
pub use print::print;

/// The first line of every program in text form.
pub const FIRST_LINE: &str = "lockcheck program 1";
