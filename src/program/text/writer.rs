//! Text that grows by words, numbers and operands: printing a large program makes no string for each of them.

use super::cursor::is_word;
use super::words::{Word, scalar, type_word};
use crate::program::{Access, BlockId, Constant, ConstantId, FunctionId, GlobalId, Operand, Program, Scalar, Scope, Type};

pub struct Writer<'p> {
    pub program: &'p Program,
    pub text: String,
}

impl Writer<'_> {
    pub fn word(&mut self, word: &str) -> &mut Self {
        self.text.push_str(word);
        self
    }

    /// The word if the flag is set.
    pub fn flag(&mut self, is_set: bool, word: &str) -> &mut Self {
        self.word(if is_set { word } else { "" })
    }

    pub fn number(&mut self, number: impl Into<u128>) -> &mut Self {
        let mut rest: u128 = number.into();
        let mut digits = [b'0'; 39];
        let mut first = digits.len();
        // Most numbers are short, and dividing a machine word is much cheaper.
        while rest > u128::from(u64::MAX) {
            first -= 1;
            digits[first] += (rest % 10) as u8;
            rest /= 10;
        }
        let mut rest = rest as u64;
        while rest > 0 || first == digits.len() {
            first -= 1;
            digits[first] += (rest % 10) as u8;
            rest /= 10;
        }
        self.word(std::str::from_utf8(&digits[first..]).expect("digits are ASCII"))
    }

    pub fn signed(&mut self, number: i64) -> &mut Self {
        self.flag(number < 0, "-").number(number.unsigned_abs())
    }

    /// The number of an entry in a table, behind the letter of that table.
    pub fn id(&mut self, prefix: &str, id: impl Into<usize>) -> &mut Self {
        let index: usize = id.into();
        self.word(prefix).number(index as u64)
    }

    /// A string in quotes.
    pub fn quoted(&mut self, text: &str) -> &mut Self {
        self.text.push('"');
        let mut plain = 0;
        for (at, byte) in text.bytes().enumerate() {
            let escape = match byte {
                b'"' => "\\\"",
                b'\\' => "\\\\",
                b'\n' => "\\n",
                b'\t' => "\\t",
                b'\r' => "\\r",
                0 => "\\0",
                _ => continue,
            };
            self.text.push_str(&text[plain..at]);
            self.text.push_str(escape);
            plain = at + 1;
        }
        self.text.push_str(&text[plain..]);
        self.text.push('"');
        self
    }

    /// `@name`, in quotes when it is no plain word.
    pub fn name(&mut self, name: &str) -> &mut Self {
        self.text.push('@');
        let is_plain = !name.is_empty() && name.bytes().all(is_word);
        if is_plain { self.word(name) } else { self.quoted(name) }
    }

    pub fn function(&mut self, function: FunctionId) -> &mut Self {
        let program = self.program;
        self.name(&program.functions[function].name)
    }

    pub fn global(&mut self, global: GlobalId) -> &mut Self {
        let program = self.program;
        self.name(&program.globals[global].name)
    }

    /// Each by `write`, with commas between them.
    pub fn list<T>(&mut self, items: impl IntoIterator<Item = T>, mut write: impl FnMut(&mut Self, T)) -> &mut Self {
        for (position, item) in items.into_iter().enumerate() {
            self.flag(position > 0, ", ");
            write(self, item);
        }
        self
    }

    pub fn scalar(&mut self, kind: Scalar) -> &mut Self {
        match kind {
            Scalar::Integer(bits) => self.word("i").number(bits),
            other => self.word(&scalar(other)),
        }
    }

    pub fn type_(&mut self, ty: Type) -> &mut Self {
        match ty {
            Type::Scalar(kind) => self.scalar(kind),
            other => self.word(&type_word(other)),
        }
    }

    pub fn operand(&mut self, operand: Operand) -> &mut Self {
        match operand {
            Operand::Register(register) => self.id("%", register),
            Operand::Constant(constant) => self.constant(constant),
        }
    }

    pub fn operands(&mut self, operands: &[Operand]) -> &mut Self {
        self.list(operands, |out, operand| {
            out.operand(*operand);
        })
    }

    pub fn blocks(&mut self, blocks: &[BlockId]) -> &mut Self {
        self.list(blocks, |out, block| {
            out.id("b", *block);
        })
    }

    pub fn constant(&mut self, id: ConstantId) -> &mut Self {
        let program = self.program;
        match &program.constants[id] {
            Constant::Integer { bits, value } => self.word("i").number(*bits).word(" ").number(*value),
            Constant::WideInteger { bits, words } => {
                let words: Vec<String> = words.iter().map(u64::to_string).collect();
                self.word("i").number(*bits).word(" [").word(&words.join(" ")).word("]")
            }
            Constant::Float { kind, bits } => self.scalar(*kind).word(&format!(" 0x{bits:x}")),
            Constant::Null => self.word("null"),
            Constant::Undef(ty) => self.word("undef ").type_(*ty),
            Constant::Poison(ty) => self.word("poison ").type_(*ty),
            Constant::Zero(ty) => self.word("zero ").type_(*ty),
            Constant::Global(global) => self.word("global ").global(*global),
            Constant::Function(function) => self.word("function ").function(*function),
            Constant::Block(function, block) => self.word("block ").function(*function).id(" b", *block),
            Constant::Vector { element, lanes } => {
                self.word("vector ").scalar(*element).word(" [");
                self.list(lanes, |out, lane| {
                    out.constant(*lane);
                });
                self.word("]")
            }
            Constant::Aggregate { size, elements } => {
                self.word("bytes ").number(*size).word(" {");
                self.list(elements, |out, (offset, element)| {
                    out.number(*offset).word(": ").constant(*element);
                });
                self.word("}")
            }
        }
    }

    pub fn access(&mut self, access: &Access) -> &mut Self {
        self.flag(access.is_volatile, " volatile");
        if let Some(ordering) = access.ordering {
            self.word(" ").word(ordering.word());
        }
        self.scope(access.scope).word(" align ").number(access.align);
        match access.alias {
            Some(alias) => self.id(" as a", alias),
            None => self,
        }
    }

    pub fn scope(&mut self, scope: Scope) -> &mut Self {
        match scope {
            Scope::System => self,
            Scope::SingleThread => self.word(" single_thread"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_printed_as_the_standard_library_does() {
        let program = Program::default();
        for number in [0, 1, 9, 10, 12_345, u128::from(u64::MAX), u128::from(u64::MAX) + 1, 10u128.pow(38), u128::MAX] {
            let mut out = Writer { program: &program, text: String::new() };
            out.number(number);
            assert_eq!(out.text, number.to_string());
        }
        for number in [0, -1, 42, i64::MIN, i64::MAX] {
            let mut out = Writer { program: &program, text: String::new() };
            out.signed(number);
            assert_eq!(out.text, number.to_string());
        }
    }
}
