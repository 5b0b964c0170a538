//! Text to operations and terminators.

use super::constant::{self, list};
use super::cursor::{Cursor, Result};
use super::parse::Names;
use super::parse_function::parse_by_value;
use super::words::{Word, parse_float_predicate};
use crate::program::{
    Access, AliasTypeId, Argument, ArithmeticFlags, BinaryOp, BlockId, Callee, CastKind, ConstantId, Constants, IntegerPredicate,
    Intrinsic, OffsetTarget, OffsetTerm, Operand, Operation, Ordering, Predicate, ReadModifyWriteOp, RegisterId, Scope,
    StructureId, TerminatorKind,
};

/// Reads operands; constants are interned as they come.
pub struct OperandParser<'a> {
    pub names: &'a Names,
    pub constants: &'a mut Constants,
}

impl OperandParser<'_> {
    pub fn operand(&mut self, cursor: &mut Cursor<'_>) -> Result<Operand> {
        match cursor.take_prefixed("%")? {
            Some(number) => Ok(Operand::Register(RegisterId::from(number))),
            None => self.constant(cursor).map(Operand::Constant),
        }
    }

    fn constant(&mut self, cursor: &mut Cursor<'_>) -> Result<ConstantId> {
        constant::parse(cursor, self.names, self.constants)
    }

    /// Operands separated by commas, as many as asked for.
    fn operands<const N: usize>(&mut self, cursor: &mut Cursor<'_>) -> Result<[Operand; N]> {
        let mut operands = [Operand::Register(RegisterId::from(0)); N];
        for (position, operand) in operands.iter_mut().enumerate() {
            if position > 0 {
                cursor.expect(",")?;
            }
            *operand = self.operand(cursor)?;
        }
        Ok(operands)
    }
}

pub fn parse_operation(cursor: &mut Cursor<'_>, operands: &mut OperandParser<'_>) -> Result<Operation> {
    let word = cursor.word()?;
    if let Some(op) = BinaryOp::from_word(word) {
        let flags = parse_flags(cursor);
        let [left, right] = operands.operands(cursor)?;
        return Ok(Operation::Binary { op, flags, left, right });
    }
    Ok(match word {
        "negate" => Operation::Negate { value: operands.operand(cursor)? },
        "compare" => {
            let predicate = Predicate::Integer(member::<IntegerPredicate>(cursor, "predicate")?);
            let [left, right] = operands.operands(cursor)?;
            Operation::Compare { predicate, left, right }
        }
        "float_compare" => {
            let word = cursor.word()?;
            let predicate = Predicate::Float(parse_float_predicate(word).ok_or_else(|| format!("`{word}` is no predicate"))?);
            let [left, right] = operands.operands(cursor)?;
            Operation::Compare { predicate, left, right }
        }
        "cast" => Operation::Cast { kind: member::<CastKind>(cursor, "cast")?, value: operands.operand(cursor)? },
        "select" => {
            let [condition, when_true, when_false] = operands.operands(cursor)?;
            Operation::Select { condition, when_true, when_false }
        }
        "offset" => {
            let in_bounds = cursor.take_word("in_bounds");
            let base = operands.operand(cursor)?;
            cursor.expect(",")?;
            let constant = cursor.number()?;
            let mut terms = Vec::new();
            while cursor.take(",") {
                let index = operands.operand(cursor)?;
                cursor.expect("*")?;
                let stride = cursor.number()?;
                let count = if cursor.take_word("of") { Some(cursor.number()?) } else { None };
                terms.push(OffsetTerm { index, stride, count });
            }
            let structure = if cursor.take_word("in") { Some(StructureId::from(cursor.prefixed("c")?)) } else { None };
            let target = parse_target(cursor)?;
            Operation::Offset { base, constant, terms, in_bounds, structure, target }
        }
        "extract_bytes" => {
            let aggregate = operands.operand(cursor)?;
            cursor.expect_word("at")?;
            Operation::ExtractBytes { aggregate, offset: cursor.number()? }
        }
        "insert_bytes" => {
            let aggregate = operands.operand(cursor)?;
            cursor.expect_word("at")?;
            let offset = cursor.number()?;
            cursor.expect(",")?;
            Operation::InsertBytes { aggregate, offset, value: operands.operand(cursor)? }
        }
        "extract_lane" => {
            let [vector, lane] = operands.operands(cursor)?;
            Operation::ExtractLane { vector, lane }
        }
        "insert_lane" => {
            let [vector, value, lane] = operands.operands(cursor)?;
            Operation::InsertLane { vector, value, lane }
        }
        "shuffle" => {
            let [left, right] = operands.operands(cursor)?;
            cursor.expect(",")?;
            let lane = |cursor: &mut Cursor<'_>| if cursor.take_word("_") { Ok(None) } else { cursor.number().map(Some) };
            Operation::Shuffle { left, right, mask: list(cursor, ("[", "]"), lane)? }
        }
        "freeze" => Operation::Freeze { value: operands.operand(cursor)? },
        "intrinsic" => {
            let function = member::<Intrinsic>(cursor, "intrinsic")?;
            Operation::Intrinsic { function, arguments: list(cursor, ("(", ")"), |cursor| operands.operand(cursor))? }
        }
        _ => return parse_effect(word, cursor, operands),
    })
}

/// Operations that touch memory, call or stop.
fn parse_effect(word: &str, cursor: &mut Cursor<'_>, operands: &mut OperandParser<'_>) -> Result<Operation> {
    Ok(match word {
        "stack_allocate" => {
            let element_size = cursor.number()?;
            cursor.expect("*")?;
            let count = operands.operand(cursor)?;
            cursor.expect_word("align")?;
            Operation::StackAllocate { element_size, count, align: cursor.number()? }
        }
        "stack_save" => Operation::StackSave,
        "stack_restore" => Operation::StackRestore { saved: operands.operand(cursor)? },
        "lifetime_start" => Operation::LifetimeStart { address: operands.operand(cursor)? },
        "lifetime_end" => Operation::LifetimeEnd { address: operands.operand(cursor)? },
        "thread_local_address" => Operation::ThreadLocalAddress { global: operands.names.global(&cursor.name()?)? },
        "load" => Operation::Load { address: operands.operand(cursor)?, access: parse_access(cursor)? },
        "store" => {
            let value = operands.operand(cursor)?;
            cursor.expect_word("to")?;
            Operation::Store { value, address: operands.operand(cursor)?, access: parse_access(cursor)? }
        }
        "read_modify_write" => {
            let op = member::<ReadModifyWriteOp>(cursor, "operation")?;
            let [address, value] = operands.operands(cursor)?;
            Operation::ReadModifyWrite { op, address, value, access: parse_access(cursor)? }
        }
        "compare_exchange" => {
            let is_weak = cursor.take_word("weak");
            let [address, expected, replacement] = operands.operands(cursor)?;
            let access = parse_access(cursor)?;
            cursor.expect_word("failure")?;
            let failure = member::<Ordering>(cursor, "ordering")?;
            cursor.expect_word("success_at")?;
            Operation::CompareExchange {
                address,
                expected,
                replacement,
                access,
                failure,
                is_weak,
                success_offset: cursor.number()?,
            }
        }
        "fence" => Operation::Fence { ordering: member::<Ordering>(cursor, "ordering")?, scope: parse_scope(cursor) },
        "copy_memory" => {
            let (may_overlap, is_volatile) = (cursor.take_word("may_overlap"), cursor.take_word("volatile"));
            let [destination, source, size] = operands.operands(cursor)?;
            let is_assignment = cursor.take_word("assignment");
            Operation::CopyMemory { destination, source, size, may_overlap, is_volatile, is_assignment }
        }
        "set_memory" => {
            let is_volatile = cursor.take_word("volatile");
            let [destination, byte, size] = operands.operands(cursor)?;
            Operation::SetMemory { destination, byte, size, is_volatile }
        }
        "masked_load" => {
            let [address, mask, otherwise] = operands.operands(cursor)?;
            Operation::MaskedLoad { address, mask, otherwise }
        }
        "masked_store" => {
            let [address, mask, value] = operands.operands(cursor)?;
            Operation::MaskedStore { address, mask, value }
        }
        "call" => {
            let callee = Callee::Direct(operands.names.function(&cursor.name()?)?);
            parse_call(callee, cursor, operands)?
        }
        "call_indirect" => {
            let callee = Callee::Indirect(operands.operand(cursor)?);
            parse_call(callee, cursor, operands)?
        }
        "assembly" => {
            let text = cursor.string()?;
            let arguments = list(cursor, ("(", ")"), |cursor| operands.operand(cursor))?;
            Operation::InlineAssembly { text, arguments, may_store: cursor.take_word("storing") }
        }
        "variadic_start" => Operation::VariadicStart { list: operands.operand(cursor)? },
        "variadic_copy" => {
            let [to, from] = operands.operands(cursor)?;
            Operation::VariadicCopy { to, from }
        }
        "variadic_end" => Operation::VariadicEnd { list: operands.operand(cursor)? },
        "variadic_next" => Operation::VariadicNext { list: operands.operand(cursor)? },
        "assume" => Operation::Assume { condition: operands.operand(cursor)? },
        "trap" => Operation::Trap,
        "frame_address" => Operation::FrameAddress,
        "cycle_counter" => Operation::CycleCounter,
        _ => return Err(format!("`{word}` is no operation")),
    })
}

fn parse_call(callee: Callee, cursor: &mut Cursor<'_>, operands: &mut OperandParser<'_>) -> Result<Operation> {
    let argument = |cursor: &mut Cursor<'_>| Ok(Argument { value: operands.operand(cursor)?, by_value: parse_by_value(cursor)? });
    let arguments = list(cursor, ("(", ")"), argument)?;
    Ok(Operation::Call { callee, arguments, is_variadic: cursor.take_word("variadic") })
}

/// `None` when the word is no terminator.
pub fn parse_terminator(cursor: &mut Cursor<'_>, operands: &mut OperandParser<'_>) -> Result<Option<TerminatorKind>> {
    let block = |cursor: &mut Cursor<'_>| cursor.prefixed("b").map(BlockId::from);
    let word = cursor.peek_word();
    if !["return", "jump", "branch", "switch", "indirect_jump", "any_of", "unreachable"].contains(&word) {
        return Ok(None);
    }
    cursor.word()?;
    Ok(Some(match word {
        "return" if cursor.is_at_end() || cursor.peek_site() => TerminatorKind::Return(None),
        "return" => TerminatorKind::Return(Some(operands.operand(cursor)?)),
        "jump" => TerminatorKind::Jump(block(cursor)?),
        "branch" => {
            let condition = operands.operand(cursor)?;
            cursor.expect(",")?;
            let when_true = block(cursor)?;
            cursor.expect(",")?;
            TerminatorKind::Branch { condition, when_true, when_false: block(cursor)? }
        }
        "switch" => {
            let value = operands.operand(cursor)?;
            let case = |cursor: &mut Cursor<'_>| {
                let constant = operands.constant(cursor)?;
                cursor.expect(":")?;
                Ok((constant, block(cursor)?))
            };
            let cases = list(cursor, ("[", "]"), case)?;
            cursor.expect_word("else")?;
            TerminatorKind::Switch { value, cases, default: block(cursor)? }
        }
        "indirect_jump" => {
            TerminatorKind::IndirectJump { address: operands.operand(cursor)?, targets: list(cursor, ("[", "]"), block)? }
        }
        "any_of" => TerminatorKind::AnyOf(list(cursor, ("[", "]"), block)?),
        _ => TerminatorKind::Unreachable,
    }))
}

fn member<M: Word>(cursor: &mut Cursor<'_>, what: &str) -> Result<M> {
    let word = cursor.word()?;
    M::from_word(word).ok_or_else(|| format!("`{word}` is no {what}"))
}

fn parse_flags(cursor: &mut Cursor<'_>) -> ArithmeticFlags {
    let (no_signed_wrap, no_unsigned_wrap, exact) = (cursor.take_word("nsw"), cursor.take_word("nuw"), cursor.take_word("exact"));
    ArithmeticFlags { no_signed_wrap, no_unsigned_wrap, exact }
}

fn parse_access(cursor: &mut Cursor<'_>) -> Result<Access> {
    let is_volatile = cursor.take_word("volatile");
    let ordering = Ordering::from_word(cursor.peek_word());
    if ordering.is_some() {
        cursor.word()?;
    }
    let scope = parse_scope(cursor);
    cursor.expect_word("align")?;
    let align = cursor.number()?;
    let alias = if cursor.take_word("as") { Some(AliasTypeId::from(cursor.prefixed("a")?)) } else { None };
    Ok(Access { ordering, scope, is_volatile, align, alias })
}

fn parse_scope(cursor: &mut Cursor<'_>) -> Scope {
    if cursor.take_word("single_thread") { Scope::SingleThread } else { Scope::System }
}

fn parse_target(cursor: &mut Cursor<'_>) -> Result<OffsetTarget> {
    if cursor.take_word("member") {
        return Ok(OffsetTarget::Member);
    }
    if !cursor.take_word("array") {
        return Ok(OffsetTarget::Moved);
    }
    let before = cursor.number()?;
    cursor.expect("+")?;
    let after = cursor.number()?;
    cursor.expect_word("by")?;
    Ok(OffsetTarget::Array { before, after, element: cursor.number()? })
}
