//! The fingerprint of a program: does a schedule belong to it?
//!
//! Hashed are functions (names, operations, control flow), constants and globals. Left out are debug information, places and sites,
//! so that a moved file or a shifted line keeps its schedules, and the bytes of string constants that are the name of a source
//! file (`__FILE__`).

use std::hash::{Hash, Hasher};

use crate::program::{Function, Global, Program, RelocationTarget};

/// In the manner of FNV-1a, a word at a time: the same in every process.
struct Fingerprint(u64);

impl Fingerprint {
    fn bytes(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        words.iter().for_each(|word| self.number(u64::from_le_bytes(*word)));
        rest.iter().for_each(|byte| self.number(u64::from(*byte)));
    }

    /// With its length, so that neighbours do not run together.
    fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.bytes(text.as_bytes());
    }

    /// The high bits come down, so that a change there is not lost in the next product.
    fn number(&mut self, number: u64) {
        self.0 = (self.0 ^ number).wrapping_mul(0x0000_0100_0000_01b3);
        self.0 ^= self.0 >> 29;
    }

    /// A value that is a plain tree of numbers.
    fn tree(&mut self, value: &impl Hash) {
        value.hash(self);
    }
}

impl Hasher for Fingerprint {
    fn write(&mut self, bytes: &[u8]) {
        self.bytes(bytes);
    }

    fn write_u8(&mut self, number: u8) {
        self.number(u64::from(number));
    }

    fn write_u32(&mut self, number: u32) {
        self.number(u64::from(number));
    }

    fn write_u64(&mut self, number: u64) {
        self.number(number);
    }

    fn write_usize(&mut self, number: usize) {
        self.number(number as u64);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// A stable hash of what the program does.
pub fn fingerprint(program: &Program) -> u64 {
    let mut hash = Fingerprint(0xcbf2_9ce4_8422_2325);
    hash.number(u64::from(program.layout.pointer_bytes));
    hash.number(program.functions.len() as u64);
    program.functions.iter().for_each(|function| hash_function(&mut hash, function));
    program.constants.iter().for_each(|(_, constant)| hash.tree(constant));
    for global in &program.globals {
        hash_global(&mut hash, program, global);
    }
    hash.tree(&program.constructors);
    hash.tree(&program.destructors);
    hash.0
}

fn hash_function(hash: &mut Fingerprint, function: &Function) {
    hash.text(&function.name);
    hash.tree(&(&function.parameters, function.is_variadic, function.return_type));
    function.registers.iter().for_each(|register| hash.tree(&register.ty));
    for block in &function.blocks {
        hash.tree(&block.phis);
        for instruction in &block.instructions {
            hash.tree(&(instruction.result, &instruction.operation));
        }
        hash.tree(&block.terminator.kind);
    }
}

fn hash_global(hash: &mut Fingerprint, program: &Program, global: &Global) {
    hash.tree(&(global.align, global.is_thread_local, global.is_constant, global.is_external));
    if is_file_name(program, global) {
        return;
    }
    hash.text(&global.name);
    hash.number(global.size);
    hash.number(global.bytes.len() as u64);
    hash.bytes(&global.bytes);
    for relocation in &global.relocations {
        hash.tree(&(relocation.offset, relocation.addend));
        match relocation.target {
            RelocationTarget::Global(target) => hash.text(&program.globals[target].name),
            RelocationTarget::Function(target) => hash.text(&program.functions[target].name),
            RelocationTarget::Block(function, block) => {
                hash.text(&program.functions[function].name);
                hash.tree(&block);
            }
        }
    }
}

/// `__FILE__`, or another string that is the path of a source file.
fn is_file_name(program: &Program, global: &Global) -> bool {
    let Some((0, text)) = global.bytes.split_last() else { return false };
    let is_path = |path: &str| path.as_bytes() == text;
    global.is_constant && program.files.iter().any(|file| is_path(&file.name) || file.absolute().to_str().is_some_and(is_path))
}

#[cfg(test)]
mod tests {
    use typed_index_collections::ti_vec;

    use super::*;
    use crate::program::{
        Block, Instruction, Location, Operand, Operation, Register, RegisterId, Site, SiteId, SourceFile, Terminator,
        TerminatorKind, Type,
    };
    use crate::program::{Constant, FileId, FunctionId, GlobalId};

    fn program(directory: &str, line: u32, returned: u128) -> Program {
        let mut program = Program::default();
        let constant = program.constants.intern(Constant::integer(32, returned));
        let value = Operand::Constant(constant);
        let register = RegisterId::from(0);
        let site = SiteId::from(0);
        program.files.push(SourceFile { name: format!("{directory}/a.c"), directory: directory.to_owned() });
        program.locations.push(Location {
            file: FileId::from(0),
            line,
            column: 1,
            function: "main".to_owned(),
            inlined_at: None,
        });
        program.sites.push(Site { function: FunctionId::from(0), index: 0, location: Some(0.into()) });
        let freeze = Instruction { site, result: Some(register), operation: Operation::Freeze { value } };
        program.functions.push(Function {
            name: "main".to_owned(),
            source_name: "main".to_owned(),
            parameters: Vec::new(),
            is_variadic: false,
            return_type: Type::integer(32),
            registers: ti_vec![Register { ty: Type::integer(32) }],
            blocks: ti_vec![Block {
                predecessors: Vec::new(),
                phis: Vec::new(),
                instructions: vec![freeze],
                terminator: Terminator { site, kind: TerminatorKind::Return(Some(Operand::Register(register))) },
            }],
            bindings: Vec::new(),
            debug_type: None,
            file: None,
            line,
        });
        let mut name = format!("{directory}/a.c").into_bytes();
        name.push(0);
        program.globals.push(Global {
            name: ".str".to_owned(),
            size: name.len() as u64,
            align: 1,
            is_constant: true,
            bytes: name,
            ..Global::default()
        });
        program
    }

    #[test]
    fn places_do_not_matter_and_operations_do() {
        let original = fingerprint(&program("/home/a", 3, 7));
        assert_eq!(original, fingerprint(&program("/somewhere/else", 40, 7)));
        assert_ne!(original, fingerprint(&program("/home/a", 3, 8)));
        let mut renamed = program("/home/a", 3, 7);
        renamed.functions[FunctionId::from(0)].name = "other".to_owned();
        assert_ne!(original, fingerprint(&renamed));
        let mut other_data = program("/home/a", 3, 7);
        other_data.globals[GlobalId::from(0)].bytes = b"text\0".to_vec();
        assert_ne!(original, fingerprint(&other_data));
    }
}
