//! Operations and terminators to text.

use super::cursor::{at_name, quote};
use super::print::print_operand;
use super::words::{Word, float_predicate};
use crate::program::{Access, Argument, ArithmeticFlags, BlockId, Callee, Operand, Operation, Predicate, Program, Scope, TerminatorKind};

pub fn print_operation(program: &Program, operation: &Operation) -> String {
    let one = |operand: &Operand| print_operand(program, *operand);
    let all = |operands: &[&Operand]| operands.iter().map(|operand| print_operand(program, **operand)).collect::<Vec<_>>().join(", ");
    let flag = |is_set: bool, word: &str| if is_set { format!("{word} ") } else { String::new() };
    match operation {
        Operation::Binary { op, flags, left, right } => format!("{} {}{}", op.word(), print_flags(*flags), all(&[left, right])),
        Operation::Negate { value } => format!("negate {}", one(value)),
        Operation::Compare { predicate: Predicate::Integer(predicate), left, right } => format!("compare {} {}", predicate.word(), all(&[left, right])),
        Operation::Compare { predicate: Predicate::Float(predicate), left, right } => {
            format!("float_compare {} {}", float_predicate(*predicate), all(&[left, right]))
        }
        Operation::Cast { kind, value } => format!("cast {} {}", kind.word(), one(value)),
        Operation::Select { condition, when_true, when_false } => format!("select {}", all(&[condition, when_true, when_false])),
        Operation::Offset { base, constant, terms, in_bounds } => {
            let terms: String = terms.iter().map(|term| format!(", {} * {}", one(&term.index), term.stride)).collect();
            format!("offset {}{}, {constant}{terms}", flag(*in_bounds, "in_bounds"), one(base))
        }
        Operation::ExtractBytes { aggregate, offset } => format!("extract_bytes {} at {offset}", one(aggregate)),
        Operation::InsertBytes { aggregate, offset, value } => format!("insert_bytes {} at {offset}, {}", one(aggregate), one(value)),
        Operation::ExtractLane { vector, lane } => format!("extract_lane {}", all(&[vector, lane])),
        Operation::InsertLane { vector, value, lane } => format!("insert_lane {}", all(&[vector, value, lane])),
        Operation::Shuffle { left, right, mask } => {
            let mask: Vec<String> = mask.iter().map(|lane| lane.map_or("_".to_owned(), |lane| lane.to_string())).collect();
            format!("shuffle {}, [{}]", all(&[left, right]), mask.join(", "))
        }
        Operation::Freeze { value } => format!("freeze {}", one(value)),
        Operation::Intrinsic { function, arguments } => {
            format!("intrinsic {} ({})", function.word(), all(&arguments.iter().collect::<Vec<_>>()))
        }
        Operation::StackAllocate { element_size, count, align } => format!("stack_allocate {element_size} * {} align {align}", one(count)),
        Operation::StackSave => "stack_save".to_owned(),
        Operation::StackRestore { saved } => format!("stack_restore {}", one(saved)),
        Operation::LifetimeStart { address } => format!("lifetime_start {}", one(address)),
        Operation::LifetimeEnd { address } => format!("lifetime_end {}", one(address)),
        Operation::ThreadLocalAddress { global } => format!("thread_local_address {}", at_name(&program.globals[*global].name)),
        Operation::Load { address, access } => format!("load {}{}", one(address), print_access(access)),
        Operation::Store { address, value, access } => format!("store {} to {}{}", one(value), one(address), print_access(access)),
        Operation::ReadModifyWrite { op, address, value, access } => {
            format!("read_modify_write {} {}{}", op.word(), all(&[address, value]), print_access(access))
        }
        Operation::CompareExchange { address, expected, replacement, access, failure, is_weak, success_offset } => format!(
            "compare_exchange {}{}{} failure {} success_at {success_offset}",
            flag(*is_weak, "weak"),
            all(&[address, expected, replacement]),
            print_access(access),
            failure.word()
        ),
        Operation::Fence { ordering, scope } => format!("fence {}{}", ordering.word(), print_scope(*scope)),
        Operation::CopyMemory { destination, source, size, may_overlap, is_volatile } => format!(
            "copy_memory {}{}{}",
            flag(*may_overlap, "may_overlap"),
            flag(*is_volatile, "volatile"),
            all(&[destination, source, size])
        ),
        Operation::SetMemory { destination, byte, size, is_volatile } => {
            format!("set_memory {}{}", flag(*is_volatile, "volatile"), all(&[destination, byte, size]))
        }
        Operation::MaskedLoad { address, mask, otherwise } => format!("masked_load {}", all(&[address, mask, otherwise])),
        Operation::MaskedStore { address, mask, value } => format!("masked_store {}", all(&[address, mask, value])),
        Operation::Call { callee, arguments, is_variadic } => {
            let callee = match callee {
                Callee::Direct(function) => format!("call {}", at_name(&program.functions[*function].name)),
                Callee::Indirect(operand) => format!("call_indirect {} ", one(operand)),
            };
            let argument = |argument: &Argument| {
                let by_value = argument.by_value.map_or(String::new(), |copy| format!(" by_value {} {}", copy.size, copy.align));
                format!("{}{by_value}", one(&argument.value))
            };
            let arguments: Vec<String> = arguments.iter().map(argument).collect();
            format!("{callee}({}){}", arguments.join(", "), if *is_variadic { " variadic" } else { "" })
        }
        Operation::InlineAssembly { text, arguments } => format!("assembly {} ({})", quote(text), all(&arguments.iter().collect::<Vec<_>>())),
        Operation::VariadicStart { list } => format!("variadic_start {}", one(list)),
        Operation::VariadicCopy { to, from } => format!("variadic_copy {}", all(&[to, from])),
        Operation::VariadicEnd { list } => format!("variadic_end {}", one(list)),
        Operation::VariadicNext { list } => format!("variadic_next {}", one(list)),
        Operation::Assume { condition } => format!("assume {}", one(condition)),
        Operation::Trap => "trap".to_owned(),
        Operation::FrameAddress => "frame_address".to_owned(),
        Operation::CycleCounter => "cycle_counter".to_owned(),
    }
}

pub fn print_terminator(program: &Program, terminator: &TerminatorKind) -> String {
    let one = |operand: &Operand| print_operand(program, *operand);
    let targets = |targets: &[BlockId]| targets.iter().map(|target| format!("b{}", usize::from(*target))).collect::<Vec<_>>().join(", ");
    match terminator {
        TerminatorKind::Return(None) => "return".to_owned(),
        TerminatorKind::Return(Some(value)) => format!("return {}", one(value)),
        TerminatorKind::Jump(target) => format!("jump {}", targets(&[*target])),
        TerminatorKind::Branch { condition, when_true, when_false } => format!("branch {}, {}", one(condition), targets(&[*when_true, *when_false])),
        TerminatorKind::Switch { value, cases, default } => {
            let case = |(constant, target): &(_, BlockId)| format!("{}: b{}", one(&Operand::Constant(*constant)), usize::from(*target));
            format!("switch {} [{}] else {}", one(value), cases.iter().map(case).collect::<Vec<_>>().join(", "), targets(&[*default]))
        }
        TerminatorKind::IndirectJump { address, targets: blocks } => format!("indirect_jump {} [{}]", one(address), targets(blocks)),
        TerminatorKind::AnyOf(blocks) => format!("any_of [{}]", targets(blocks)),
        TerminatorKind::Unreachable => "unreachable".to_owned(),
    }
}

fn print_flags(flags: ArithmeticFlags) -> String {
    let words = [(flags.no_signed_wrap, "nsw "), (flags.no_unsigned_wrap, "nuw "), (flags.exact, "exact ")];
    words.iter().filter(|(is_set, _)| *is_set).map(|(_, word)| *word).collect()
}

fn print_access(access: &Access) -> String {
    let volatile = if access.is_volatile { " volatile" } else { "" };
    let ordering = access.ordering.map_or(String::new(), |ordering| format!(" {}", ordering.word()));
    format!("{volatile}{ordering}{} align {}", print_scope(access.scope), access.align)
}

fn print_scope(scope: Scope) -> &'static str {
    match scope {
        Scope::System => "",
        Scope::SingleThread => " single_thread",
    }
}
