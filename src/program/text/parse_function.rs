//! Text to functions: headers, blocks, phis, and the predecessors that follow from the jumps.

use std::collections::BTreeMap;

use typed_index_collections::TiVec;

use super::cursor::{Cursor, Result};
use super::parse::{Names, parse_file_and_line};
use super::parse_debug::parse_type_reference;
use super::parse_operation::{OperandParser, parse_operation, parse_terminator};
use crate::program::function::ByValue;
use crate::program::{
    Binding, Block, BlockId, Function, FunctionId, Instruction, Operand, Parameter, Phi, Program, Register, RegisterId, Site,
    SiteId, Terminator, Type, VariableId,
};

/// A function whose end has not been read yet.
pub struct FunctionParser {
    function: Function,
    registers: BTreeMap<RegisterId, Register>,
    blocks: Vec<OpenBlock>,
    /// The next site's index, for instructions without one.
    next_index: u32,
}

#[derive(Default)]
struct OpenBlock {
    phis: Vec<(RegisterId, Vec<(BlockId, Operand)>)>,
    instructions: Vec<Instruction>,
    terminator: Option<Terminator>,
}

/// The line that begins a function. `None` for a function without a body.
pub fn parse_header(cursor: &mut Cursor<'_>, program: &mut Program) -> Result<Option<FunctionParser>> {
    let (name, source_name) = (cursor.name()?, cursor.string()?);
    let mut registers = BTreeMap::new();
    let parameters = super::constant::list(cursor, ("(", ")"), |cursor| {
        let register = RegisterId::from(cursor.prefixed("%")?);
        cursor.expect(":")?;
        registers.insert(register, Register { ty: cursor.type_()? });
        Ok(Parameter { register, by_value: parse_by_value(cursor)? })
    })?;
    let is_variadic = cursor.take_word("variadic");
    cursor.expect_word("returns")?;
    let return_type = cursor.type_()?;
    let debug_type = parse_type_reference(cursor)?;
    let (file, line) = parse_file_and_line(cursor)?;
    let (blocks, bindings) = (TiVec::new(), Vec::new());
    let function = Function {
        name,
        source_name,
        parameters,
        is_variadic,
        return_type,
        registers: TiVec::new(),
        blocks,
        bindings,
        debug_type,
        file,
        line,
    };
    let parser = FunctionParser { function, registers, blocks: Vec::new(), next_index: 0 };
    if cursor.take("{") {
        cursor.expect_end()?;
        return Ok(Some(parser));
    }
    cursor.expect_end()?;
    parser.finish(program)?;
    Ok(None)
}

pub fn parse_by_value(cursor: &mut Cursor<'_>) -> Result<Option<ByValue>> {
    if !cursor.take_word("by_value") {
        return Ok(None);
    }
    Ok(Some(ByValue { size: cursor.number()?, align: cursor.number()? }))
}

impl FunctionParser {
    pub fn line(&mut self, line: &str, names: &Names, program: &mut Program) -> Result<()> {
        let mut cursor = Cursor::new(line);
        if self.take_label(&mut cursor)? {
            return Ok(());
        }
        let Program { constants, .. } = program;
        let mut operands = OperandParser { names, constants };
        if cursor.take_word("binding") {
            let variable = VariableId::from(cursor.prefixed("v")?);
            let is_address = cursor.take_word("at");
            if !is_address {
                cursor.expect_word("is")?;
            }
            self.function.bindings.push(Binding { variable, value: operands.operand(&mut cursor)?, is_address });
            return cursor.expect_end();
        }
        let result = self.take_result(&mut cursor)?;
        let block = self.blocks.last_mut().ok_or("an instruction stands before the first block")?;
        if block.terminator.is_some() {
            return Err("an instruction stands after the end of its block".to_owned());
        }
        if cursor.take_word("phi") {
            let phi = (result.ok_or("a phi has a result")?, parse_incoming(&mut cursor, &mut operands)?);
            block.phis.push(phi);
            return cursor.expect_end();
        }
        if let Some(kind) = parse_terminator(&mut cursor, &mut operands)? {
            let site = self.site(&mut cursor, program)?;
            self.blocks.last_mut().ok_or("no block")?.terminator = Some(Terminator { site, kind });
        } else {
            let operation = parse_operation(&mut cursor, &mut operands)?;
            let site = self.site(&mut cursor, program)?;
            self.blocks.last_mut().ok_or("no block")?.instructions.push(Instruction { site, result, operation });
        }
        cursor.expect_end()
    }

    /// `b3:`, in order.
    fn take_label(&mut self, cursor: &mut Cursor<'_>) -> Result<bool> {
        let Some(number) = cursor.take_prefixed("b")? else { return Ok(false) };
        cursor.expect(":")?;
        cursor.expect_end()?;
        if number != self.blocks.len() {
            return Err(format!("block b{number} stands where b{} is due", self.blocks.len()));
        }
        self.blocks.push(OpenBlock::default());
        Ok(true)
    }

    /// `%3: i32 =`
    fn take_result(&mut self, cursor: &mut Cursor<'_>) -> Result<Option<RegisterId>> {
        let Some(number) = cursor.take_prefixed("%")? else { return Ok(None) };
        let register = RegisterId::from(number);
        cursor.expect(":")?;
        let ty: Type = cursor.type_()?;
        cursor.expect("=")?;
        match self.registers.insert(register, Register { ty }) {
            None => Ok(Some(register)),
            Some(_) => Err(format!("%{number} is defined twice")),
        }
    }

    /// `!s12`, or a new site.
    fn site(&mut self, cursor: &mut Cursor<'_>, program: &mut Program) -> Result<SiteId> {
        if let Some(number) = cursor.take_prefixed("!s")? {
            return if number < program.sites.len() {
                Ok(SiteId::from(number))
            } else {
                Err(format!("there is no site s{number}"))
            };
        }
        let function = FunctionId::from(program.functions.len());
        self.next_index += 1;
        Ok(program.sites.push_and_get_key(Site { function, index: self.next_index - 1, location: None }))
    }

    /// Checks that nothing is missing and adds the function to the program.
    pub fn finish(mut self, program: &mut Program) -> Result<()> {
        for (expected, (register, content)) in self.registers.iter().enumerate() {
            if usize::from(*register) != expected {
                return Err(format!("%{expected} of `{}` is never defined", self.function.name));
            }
            self.function.registers.push(*content);
        }
        let mut predecessors = vec![Vec::new(); self.blocks.len()];
        for (index, block) in self.blocks.iter().enumerate() {
            let terminator = block.terminator.as_ref().ok_or_else(|| format!("block b{index} does not end"))?;
            for target in terminator.kind.successors() {
                let list: &mut Vec<BlockId> = predecessors
                    .get_mut(usize::from(target))
                    .ok_or_else(|| format!("there is no block b{}", usize::from(target)))?;
                if list.last() != Some(&BlockId::from(index)) {
                    list.push(BlockId::from(index));
                }
            }
        }
        for (block, predecessors) in self.blocks.into_iter().zip(predecessors) {
            let phis = block
                .phis
                .into_iter()
                .map(|(result, incoming)| order_phi(result, &incoming, &predecessors))
                .collect::<Result<_>>()?;
            let terminator = block.terminator.ok_or("a block does not end")?;
            self.function.blocks.push(Block { predecessors, phis, instructions: block.instructions, terminator });
        }
        program.functions.push(self.function);
        Ok(())
    }
}

fn parse_incoming(cursor: &mut Cursor<'_>, operands: &mut OperandParser<'_>) -> Result<Vec<(BlockId, Operand)>> {
    let mut incoming = Vec::new();
    while !cursor.is_at_end() {
        if !incoming.is_empty() {
            cursor.expect(",")?;
        }
        incoming.push((BlockId::from(cursor.prefixed("b")?), operands.operand(cursor)?));
    }
    Ok(incoming)
}

fn order_phi(result: RegisterId, incoming: &[(BlockId, Operand)], predecessors: &[BlockId]) -> Result<Phi> {
    let number = usize::from(result);
    let of = |(position, block): (usize, &BlockId)| {
        // Printed text has the order of the predecessors.
        let expected = incoming.get(position).filter(|(from, _)| from == block);
        let found = expected.or_else(|| incoming.iter().find(|(from, _)| from == block)).map(|(_, operand)| *operand);
        found.ok_or_else(|| format!("the phi %{number} has no operand for b{}", usize::from(*block)))
    };
    if incoming.len() != predecessors.len() {
        return Err(format!("the phi %{number} has {} operands for {} predecessors", incoming.len(), predecessors.len()));
    }
    Ok(Phi { result, operands: predecessors.iter().enumerate().map(of).collect::<Result<_>>()? })
}
