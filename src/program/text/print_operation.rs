//! Operations and terminators to text.

use super::words::{Word, float_predicate};
use super::writer::Writer;
use crate::program::{ArithmeticFlags, Callee, OffsetTarget, Operation, Predicate, TerminatorKind};

pub fn print_operation(out: &mut Writer<'_>, operation: &Operation) {
    match operation {
        Operation::Binary { op, flags, left, right } => {
            print_flags(out.word(op.word()).word(" "), *flags).operands(&[*left, *right])
        }
        Operation::Negate { value } => out.word("negate ").operand(*value),
        Operation::Compare { predicate: Predicate::Integer(predicate), left, right } => {
            out.word("compare ").word(predicate.word()).word(" ").operands(&[*left, *right])
        }
        Operation::Compare { predicate: Predicate::Float(predicate), left, right } => {
            out.word("float_compare ").word(&float_predicate(*predicate)).word(" ").operands(&[*left, *right])
        }
        Operation::Cast { kind, value } => out.word("cast ").word(kind.word()).word(" ").operand(*value),
        Operation::Select { condition, when_true, when_false } => {
            out.word("select ").operands(&[*condition, *when_true, *when_false])
        }
        Operation::Offset { base, constant, terms, in_bounds, structure, target } => {
            out.word("offset ").flag(*in_bounds, "in_bounds ").operand(*base).word(", ").signed(*constant);
            for term in terms {
                out.word(", ").operand(term.index).word(" * ").signed(term.stride);
                if let Some(count) = term.count {
                    out.word(" of ").number(count);
                }
            }
            if let Some(structure) = structure {
                out.id(" in c", *structure);
            }
            match *target {
                OffsetTarget::Moved => out,
                OffsetTarget::Member => out.word(" member"),
                OffsetTarget::Array { before, after, element } => {
                    out.word(" array ").number(before).word(" + ").number(after).word(" by ").number(element)
                }
            }
        }
        Operation::ExtractBytes { aggregate, offset } => {
            out.word("extract_bytes ").operand(*aggregate).word(" at ").number(*offset)
        }
        Operation::InsertBytes { aggregate, offset, value } => {
            out.word("insert_bytes ").operand(*aggregate).word(" at ").number(*offset).word(", ").operand(*value)
        }
        Operation::ExtractLane { vector, lane } => out.word("extract_lane ").operands(&[*vector, *lane]),
        Operation::InsertLane { vector, value, lane } => out.word("insert_lane ").operands(&[*vector, *value, *lane]),
        Operation::Shuffle { left, right, mask } => {
            let lane = |out: &mut Writer<'_>, lane: &Option<u32>| {
                match lane {
                    Some(lane) => out.number(*lane),
                    None => out.word("_"),
                };
            };
            out.word("shuffle ").operands(&[*left, *right]).word(", [").list(mask, lane).word("]")
        }
        Operation::Freeze { value } => out.word("freeze ").operand(*value),
        Operation::Intrinsic { function, arguments } => {
            out.word("intrinsic ").word(function.word()).word(" (").operands(arguments).word(")")
        }
        Operation::StackAllocate { element_size, count, align } => {
            out.word("stack_allocate ").number(*element_size).word(" * ").operand(*count).word(" align ").number(*align)
        }
        Operation::StackSave => out.word("stack_save"),
        Operation::StackRestore { saved } => out.word("stack_restore ").operand(*saved),
        Operation::LifetimeStart { address } => out.word("lifetime_start ").operand(*address),
        Operation::LifetimeEnd { address } => out.word("lifetime_end ").operand(*address),
        Operation::ThreadLocalAddress { global } => out.word("thread_local_address ").global(*global),
        Operation::Load { address, access } => out.word("load ").operand(*address).access(access),
        Operation::Store { address, value, access } => {
            out.word("store ").operand(*value).word(" to ").operand(*address).access(access)
        }
        Operation::ReadModifyWrite { op, address, value, access } => {
            out.word("read_modify_write ").word(op.word()).word(" ").operands(&[*address, *value]).access(access)
        }
        Operation::CompareExchange { address, expected, replacement, access, failure, is_weak, success_offset } => {
            out.word("compare_exchange ").flag(*is_weak, "weak ").operands(&[*address, *expected, *replacement]).access(access);
            out.word(" failure ").word(failure.word()).word(" success_at ").number(*success_offset)
        }
        Operation::Fence { ordering, scope } => out.word("fence ").word(ordering.word()).scope(*scope),
        Operation::CopyMemory { destination, source, size, may_overlap, is_volatile, is_assignment } => out
            .word("copy_memory ")
            .flag(*may_overlap, "may_overlap ")
            .flag(*is_volatile, "volatile ")
            .operands(&[*destination, *source, *size])
            .flag(*is_assignment, " assignment"),
        Operation::SetMemory { destination, byte, size, is_volatile } => {
            out.word("set_memory ").flag(*is_volatile, "volatile ").operands(&[*destination, *byte, *size])
        }
        Operation::MaskedLoad { address, mask, otherwise } => out.word("masked_load ").operands(&[*address, *mask, *otherwise]),
        Operation::MaskedStore { address, mask, value } => out.word("masked_store ").operands(&[*address, *mask, *value]),
        Operation::Call { callee, arguments, is_variadic } => {
            match callee {
                Callee::Direct(function) => out.word("call ").function(*function),
                Callee::Indirect(operand) => out.word("call_indirect ").operand(*operand).word(" "),
            };
            out.word("(").list(arguments, |out, argument| {
                out.operand(argument.value);
                if let Some(copy) = argument.by_value {
                    out.word(" by_value ").number(copy.size).word(" ").number(copy.align);
                }
            });
            out.word(")").flag(*is_variadic, " variadic")
        }
        Operation::InlineAssembly { text, arguments, may_store } => {
            out.word("assembly ").quoted(text).word(" (").operands(arguments).word(")").flag(*may_store, " storing")
        }
        Operation::VariadicStart { list } => out.word("variadic_start ").operand(*list),
        Operation::VariadicCopy { to, from } => out.word("variadic_copy ").operands(&[*to, *from]),
        Operation::VariadicEnd { list } => out.word("variadic_end ").operand(*list),
        Operation::VariadicNext { list } => out.word("variadic_next ").operand(*list),
        Operation::Assume { condition } => out.word("assume ").operand(*condition),
        Operation::Trap => out.word("trap"),
        Operation::FrameAddress => out.word("frame_address"),
        Operation::CycleCounter => out.word("cycle_counter"),
    };
}

pub fn print_terminator(out: &mut Writer<'_>, terminator: &TerminatorKind) {
    match terminator {
        TerminatorKind::Return(None) => out.word("return"),
        TerminatorKind::Return(Some(value)) => out.word("return ").operand(*value),
        TerminatorKind::Jump(target) => out.id("jump b", *target),
        TerminatorKind::Branch { condition, when_true, when_false } => {
            out.word("branch ").operand(*condition).word(", ").blocks(&[*when_true, *when_false])
        }
        TerminatorKind::Switch { value, cases, default } => {
            out.word("switch ").operand(*value).word(" [").list(cases, |out, (constant, target)| {
                out.constant(*constant).id(": b", *target);
            });
            out.id("] else b", *default)
        }
        TerminatorKind::IndirectJump { address, targets } => {
            out.word("indirect_jump ").operand(*address).word(" [").blocks(targets).word("]")
        }
        TerminatorKind::AnyOf(targets) => out.word("any_of [").blocks(targets).word("]"),
        TerminatorKind::Unreachable => out.word("unreachable"),
    };
}

fn print_flags<'o, 'p>(out: &'o mut Writer<'p>, flags: ArithmeticFlags) -> &'o mut Writer<'p> {
    out.flag(flags.no_signed_wrap, "nsw ").flag(flags.no_unsigned_wrap, "nuw ").flag(flags.exact, "exact ")
}
