//! A program to text.

use std::fmt::Write as _;

use super::FIRST_LINE;
use super::cursor::{at_name, quote};
use super::print_debug::{print_assumption, print_debug_type, print_file_and_line, print_location, print_variable};
use super::print_operation::{print_operation, print_terminator};
use super::words::type_word;
use super::{constant, print_debug};
use crate::program::{Block, Function, FunctionId, Global, Operand, Parameter, Program, RelocationTarget, SiteId};

pub fn print(program: &Program) -> String {
    let mut text = format!("{FIRST_LINE}\n");
    let layout = &program.layout;
    let _ = writeln!(text, "target {} pointer {}", quote(&layout.triple), layout.pointer_bytes);
    for (id, file) in program.files.iter_enumerated() {
        let _ = writeln!(text, "file f{} {} in {}", usize::from(id), quote(&file.name), quote(&file.directory));
    }
    for (id, location) in program.locations.iter_enumerated() {
        let _ = writeln!(text, "location l{} {}", usize::from(id), print_location(location));
    }
    for (id, ty) in program.debug_types.iter_enumerated() {
        let _ = writeln!(text, "type t{} {}", usize::from(id), print_debug_type(ty));
    }
    for (id, variable) in program.variables.iter_enumerated() {
        let _ = writeln!(text, "variable v{} {}", usize::from(id), print_variable(variable));
    }
    for global in &program.globals {
        print_global(&mut text, program, global);
    }
    for (id, site) in program.sites.iter_enumerated() {
        let location = site.location.map_or(String::new(), |location| format!(" l{}", usize::from(location)));
        let function = at_name(&program.functions[site.function].name);
        let _ = writeln!(text, "site s{} {function} {}{location}", usize::from(id), site.index);
    }
    for (word, functions) in [("constructor", &program.constructors), ("destructor", &program.destructors)] {
        for function in functions {
            let _ = writeln!(text, "{word} {}", at_name(&program.functions[*function].name));
        }
    }
    for assumption in &program.assumptions {
        let _ = writeln!(text, "assumption {}", print_assumption(assumption));
    }
    for id in program.functions.keys() {
        print_function(&mut text, program, id);
    }
    text
}

fn print_global(text: &mut String, program: &Program, global: &Global) {
    let _ = write!(text, "global {} {} size {} align {}", at_name(&global.name), quote(&global.source_name), global.size, global.align);
    for (flag, word) in [(global.is_thread_local, "thread_local"), (global.is_constant, "constant"), (global.is_external, "external")] {
        if flag {
            let _ = write!(text, " {word}");
        }
    }
    if let Some(ty) = global.debug_type {
        let _ = write!(text, " type t{}", usize::from(ty));
    }
    text.push_str(&print_file_and_line(global.file, global.line));
    text.push_str(" = ");
    for byte in &global.bytes {
        let _ = write!(text, "{byte:02x}");
    }
    if global.bytes.is_empty() {
        text.push('-');
    }
    for relocation in &global.relocations {
        let target = match relocation.target {
            RelocationTarget::Global(id) => format!("global {}", at_name(&program.globals[id].name)),
            RelocationTarget::Function(id) => format!("function {}", at_name(&program.functions[id].name)),
            RelocationTarget::Block(id, block) => format!("block {} b{}", at_name(&program.functions[id].name), usize::from(block)),
        };
        let _ = write!(text, " [{}: {target} {}]", relocation.offset, relocation.addend);
    }
    text.push('\n');
}

fn print_function(text: &mut String, program: &Program, id: FunctionId) {
    let function = &program.functions[id];
    let parameter = |parameter: &Parameter| {
        let ty = type_word(function.registers[parameter.register].ty);
        let by_value = parameter.by_value.map_or(String::new(), |copy| format!(" by_value {} {}", copy.size, copy.align));
        format!("%{}: {ty}{by_value}", usize::from(parameter.register))
    };
    let parameters: Vec<String> = function.parameters.iter().map(parameter).collect();
    let _ = write!(text, "function {} {} ({})", at_name(&function.name), quote(&function.source_name), parameters.join(", "));
    if function.is_variadic {
        text.push_str(" variadic");
    }
    let _ = write!(text, " returns {}{}", type_word(function.return_type), print_file_and_line(function.file, function.line));
    if !function.is_defined() {
        text.push('\n');
        return;
    }
    text.push_str(" {\n");
    for binding in &function.bindings {
        let _ = writeln!(text, "  {}", print_debug::print_binding(program, binding));
    }
    for (block_id, block) in function.blocks.iter_enumerated() {
        let _ = writeln!(text, "b{}:", usize::from(block_id));
        print_block(text, program, function, block);
    }
    text.push_str("}\n");
}

fn print_block(text: &mut String, program: &Program, function: &Function, block: &Block) {
    for phi in &block.phis {
        let incoming = block.predecessors.iter().zip(&phi.operands);
        let operands: Vec<String> = incoming.map(|(from, operand)| format!("b{} {}", usize::from(*from), print_operand(program, *operand))).collect();
        let _ = writeln!(text, "  %{}: {} = phi {}", usize::from(phi.result), type_word(function.registers[phi.result].ty), operands.join(", "));
    }
    for instruction in &block.instructions {
        text.push_str("  ");
        if let Some(result) = instruction.result {
            let _ = write!(text, "%{}: {} = ", usize::from(result), type_word(function.registers[result].ty));
        }
        let _ = writeln!(text, "{}{}", print_operation(program, &instruction.operation), print_site(instruction.site));
    }
    let _ = writeln!(text, "  {}{}", print_terminator(program, &block.terminator.kind), print_site(block.terminator.site));
}

fn print_site(site: SiteId) -> String {
    format!(" !s{}", usize::from(site))
}

pub fn print_operand(program: &Program, operand: Operand) -> String {
    match operand {
        Operand::Register(register) => format!("%{}", usize::from(register)),
        Operand::Constant(id) => constant::print(program, id),
    }
}
