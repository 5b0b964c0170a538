//! A program to text.

use super::FIRST_LINE;
use super::print_debug::{
    print_alias_type, print_assumption, print_binding, print_debug_type, print_file_and_line, print_location,
    print_type_reference, print_variable,
};
use super::print_operation::{print_operation, print_terminator};
use super::writer::Writer;
use crate::program::{Block, Function, FunctionId, Global, Program, RelocationTarget};

pub fn print(program: &Program) -> String {
    let mut writer = Writer { program, text: String::new() };
    let out = &mut writer;
    let layout = &program.layout;
    out.word(FIRST_LINE).word("\ntarget ").quoted(&layout.triple).word(" pointer ").number(layout.pointer_bytes).word("\n");
    for (id, file) in program.files.iter_enumerated() {
        out.id("file f", id).word(" ").quoted(&file.name).word(" in ").quoted(&file.directory).word("\n");
    }
    for (id, location) in program.locations.iter_enumerated() {
        print_location(out.id("location l", id).word(" "), location);
    }
    for (id, ty) in program.debug_types.iter_enumerated() {
        out.id("type t", id).word(" ").word(&print_debug_type(ty)).word("\n");
    }
    for (id, variable) in program.variables.iter_enumerated() {
        out.id("variable v", id).word(" ").word(&print_variable(variable)).word("\n");
    }
    for (id, ty) in program.alias_types.iter_enumerated() {
        out.id("alias a", id).word(" ").word(&print_alias_type(ty)).word("\n");
    }
    for (id, structure) in program.structures.iter_enumerated() {
        out.id("structure c", id).word(if structure.is_merged { " like " } else { " " }).quoted(&structure.name);
        if let Some(size) = structure.size {
            out.word(" size ").number(size);
        }
        out.word("\n");
    }
    for global in &program.globals {
        print_global(out, global);
    }
    for (id, site) in program.sites.iter_enumerated() {
        out.id("site s", id).word(" ").function(site.function).word(" ").number(site.index);
        if let Some(location) = site.location {
            out.id(" l", location);
        }
        out.word("\n");
    }
    for (word, functions) in [("constructor ", &program.constructors), ("destructor ", &program.destructors)] {
        for function in functions {
            out.word(word).function(*function).word("\n");
        }
    }
    for assumption in &program.assumptions {
        out.word("assumption ").word(&print_assumption(assumption)).word("\n");
    }
    for id in program.functions.keys() {
        print_function(out, id);
    }
    writer.text
}

fn print_global(out: &mut Writer<'_>, global: &Global) {
    out.word("global ").name(&global.name).word(" ").quoted(&global.source_name);
    out.word(" size ").number(global.size).word(" align ").number(global.align);
    out.flag(global.is_thread_local, " thread_local").flag(global.is_constant, " constant").flag(global.is_external, " external");
    out.flag(global.is_static, " static");
    if let Some(ty) = global.debug_type {
        out.id(" type t", ty);
    }
    out.word(&print_file_and_line(global.file, global.line)).word(" = ").flag(global.bytes.is_empty(), "-");
    for byte in &global.bytes {
        let digit = |value: u8| char::from(b"0123456789abcdef"[usize::from(value & 15)]);
        out.text.extend([digit(byte >> 4), digit(*byte)]);
    }
    for relocation in &global.relocations {
        out.word(" [").number(relocation.offset).word(": ");
        match relocation.target {
            RelocationTarget::Global(id) => out.word("global ").global(id),
            RelocationTarget::Function(id) => out.word("function ").function(id),
            RelocationTarget::Block(id, block) => out.word("block ").function(id).id(" b", block),
        };
        out.word(" ").signed(relocation.addend).word("]");
    }
    out.word("\n");
}

fn print_function(out: &mut Writer<'_>, id: FunctionId) {
    let function = &out.program.functions[id];
    out.word("function ").name(&function.name).word(" ").quoted(&function.source_name).word(" (");
    out.list(&function.parameters, |out, parameter| {
        out.id("%", parameter.register).word(": ").type_(function.registers[parameter.register].ty);
        if let Some(copy) = parameter.by_value {
            out.word(" by_value ").number(copy.size).word(" ").number(copy.align);
        }
    });
    out.word(")").flag(function.is_variadic, " variadic").word(" returns ").type_(function.return_type);
    out.word(&print_type_reference(function.debug_type)).word(&print_file_and_line(function.file, function.line));
    if !function.is_defined() {
        out.word("\n");
        return;
    }
    out.word(" {\n");
    for binding in &function.bindings {
        print_binding(out, binding);
    }
    for (block_id, block) in function.blocks.iter_enumerated() {
        out.id("b", block_id).word(":\n");
        print_block(out, function, block);
    }
    out.word("}\n");
}

fn print_block(out: &mut Writer<'_>, function: &Function, block: &Block) {
    for phi in &block.phis {
        out.id("  %", phi.result).word(": ").type_(function.registers[phi.result].ty).word(" = phi ");
        out.list(block.predecessors.iter().zip(&phi.operands), |out, (from, operand)| {
            out.id("b", *from).word(" ").operand(*operand);
        });
        out.word("\n");
    }
    for instruction in &block.instructions {
        out.word("  ");
        if let Some(result) = instruction.result {
            out.id("%", result).word(": ").type_(function.registers[result].ty).word(" = ");
        }
        print_operation(out, &instruction.operation);
        out.id(" !s", instruction.site).word("\n");
    }
    out.word("  ");
    print_terminator(out, &block.terminator.kind);
    out.id(" !s", block.terminator.site).word("\n");
}
