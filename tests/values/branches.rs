//! Branch facts by brute force: random conditions on two numbers; whatever is said of an edge holds for all inputs that take it.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::random::Random;
use lockcheck::facts::{Definitions, Knowledge, Valuation};
use lockcheck::program::{
    BinaryOp, BlockId, CastKind, Constant, Function, IntegerPredicate, Operand, Operation, Predicate, Program, RegisterId,
    Scalar, TerminatorKind, Type,
};

/// Two parameters of 32 bits, random computations, a condition in each of two blocks, joined by a phi as `&&` and `||` are.
fn function(random: &mut Random) -> String {
    let mut body = String::from("function @main \"main\" (%0: i32, %1: i32) returns i32 {\nb0:\n");
    let mut wide = vec![0, 1];
    let mut bits: Vec<usize> = Vec::new();
    let mut next = 2;
    let first = computed(random, &mut body, &mut next, &mut wide, &mut bits);
    if random.chance(30) {
        let value = *random.pick(&wide);
        let cases = [random.between(-1, 1), random.between(2, 4)];
        writeln!(
            body,
            "  switch %{value} [i32 {}: b1, i32 {}: b2] else b{} !s0",
            unsigned(cases[0]),
            cases[1],
            random.between(1, 2)
        )
        .expect("a string takes it");
    } else {
        writeln!(body, "  branch %{first}, b1, b2 !s0").expect("a string takes it");
    }
    body.push_str("b1:\n");
    let second = computed(random, &mut body, &mut next, &mut wide.clone(), &mut bits.clone());
    body.push_str("  jump b2 !s0\nb2:\n");
    let early = if random.chance(70) { format!("i1 {}", random.below(2)) } else { format!("%{first}") };
    let late = if random.chance(70) { format!("%{second}") } else { format!("i1 {}", random.below(2)) };
    writeln!(body, "  %{next}: i1 = phi b0 {early}, b1 {late}").expect("a string takes it");
    let phi = next;
    next += 1;
    bits.push(phi);
    let third = computed(random, &mut body, &mut next, &mut wide, &mut bits);
    let condition = if random.chance(50) { phi } else { third };
    writeln!(body, "  branch %{condition}, b3, b4 !s0\nb3:\n  return i32 1 !s0\nb4:\n  return i32 0 !s0\n}}")
        .expect("a string takes it");
    body
}

fn unsigned(value: i64) -> u32 {
    value as u32
}

/// A few computations that end in a condition.
fn computed(random: &mut Random, body: &mut String, next: &mut usize, wide: &mut Vec<usize>, bits: &mut Vec<usize>) -> usize {
    for step in 0..=random.between(1, 4) {
        let left = *random.pick(wide);
        let number = unsigned(random.between(-2, 4));
        let right = if random.chance(70) { format!("i32 {number}") } else { format!("%{}", random.pick(wide)) };
        let is_last = step >= 1 && random.chance(50) || bits.is_empty();
        let (ty, text) = match random.below(if is_last { 4 } else { 7 }) {
            0 | 1 if !bits.is_empty() && random.chance(50) => {
                let (one, other) = (*random.pick(bits), *random.pick(bits));
                let text = match random.below(4) {
                    0 => format!("and %{one}, %{other}"),
                    1 => format!("or %{one}, %{other}"),
                    2 => format!("xor %{one}, i1 1"),
                    _ => format!("select %{one}, %{other}, i1 {}", random.below(2)),
                };
                ("i1", text)
            }
            0..4 => {
                let words = [
                    "equal",
                    "not_equal",
                    "unsigned_greater",
                    "unsigned_less",
                    "unsigned_less_equal",
                    "signed_less",
                    "signed_greater",
                ];
                ("i1", format!("compare {} %{left}, {right}", random.pick(&words)))
            }
            4 => ("i32", format!("{} %{left}, {right}", random.pick(&["add", "subtract", "xor", "and", "or"]))),
            5 if !bits.is_empty() => {
                let bit = *random.pick(bits);
                (
                    "i32",
                    random
                        .pick(&[
                            format!("cast zero_extend %{bit}"),
                            format!("cast sign_extend %{bit}"),
                            format!("select %{bit}, i32 {number}, {right}"),
                        ])
                        .clone(),
                )
            }
            _ => ("i1", format!("cast truncate %{left}")),
        };
        writeln!(body, "  %{next}: {ty} = {text} !s0").expect("a string takes it");
        if ty == "i1" {
            bits.push(*next)
        } else {
            wide.push(*next)
        }
        *next += 1;
    }
    *bits.last().unwrap_or(&0)
}

fn width(program: &Program, function: &Function, operand: Operand) -> u32 {
    match program.type_of(function, operand) {
        Type::Scalar(Scalar::Integer(bits)) => bits,
        other => panic!("{other:?} is no number"),
    }
}

/// One run: the registers, and the blocks in their order.
struct Run<'p> {
    program: &'p Program,
    function: &'p Function,
    registers: BTreeMap<RegisterId, u64>,
}

impl Run<'_> {
    fn value(&self, operand: Operand) -> u64 {
        match operand {
            Operand::Register(register) => self.registers[&register],
            Operand::Constant(constant) => match self.program.constants[constant] {
                Constant::Integer { value, .. } => value as u64,
                ref other => panic!("{other:?} is no number"),
            },
        }
    }

    fn operation(&self, operation: &Operation) -> u64 {
        let bits = |operand: Operand| width(self.program, self.function, operand);
        let signed = |operand: Operand| {
            let shift = 64 - bits(operand);
            ((self.value(operand) << shift) as i64) >> shift
        };
        match operation {
            Operation::Binary { op, left, right, .. } => {
                let (one, other) = (self.value(*left), self.value(*right));
                match op {
                    BinaryOp::Add => one.wrapping_add(other),
                    BinaryOp::Subtract => one.wrapping_sub(other),
                    BinaryOp::Xor => one ^ other,
                    BinaryOp::And => one & other,
                    BinaryOp::Or => one | other,
                    other => panic!("{other:?} is not generated"),
                }
            }
            Operation::Compare { predicate: Predicate::Integer(predicate), left, right } => {
                let (one, other) = (self.value(*left), self.value(*right));
                u64::from(match predicate {
                    IntegerPredicate::Equal => one == other,
                    IntegerPredicate::NotEqual => one != other,
                    IntegerPredicate::UnsignedGreater => one > other,
                    IntegerPredicate::UnsignedLess => one < other,
                    IntegerPredicate::UnsignedLessEqual => one <= other,
                    IntegerPredicate::SignedLess => signed(*left) < signed(*right),
                    IntegerPredicate::SignedGreater => signed(*left) > signed(*right),
                    other => panic!("{other:?} is not generated"),
                })
            }
            Operation::Cast { kind: CastKind::SignExtend, value } => signed(*value) as u64,
            Operation::Cast { value, .. } => self.value(*value),
            Operation::Select { condition, when_true, when_false } => {
                if self.value(*condition) == 1 {
                    self.value(*when_true)
                } else {
                    self.value(*when_false)
                }
            }
            other => panic!("{other:?} is not generated"),
        }
    }

    /// Executes a block: the next one.
    fn block(&mut self, id: BlockId, from: Option<BlockId>) -> Option<BlockId> {
        let function = self.function;
        let block = &function.blocks[id];
        for phi in &block.phis {
            let way = block.predecessors.iter().position(|one| Some(*one) == from).expect("it came from there");
            let value = self.value(phi.operands[way]);
            self.registers.insert(phi.result, value);
        }
        for instruction in &block.instructions {
            let result = instruction.result.expect("every instruction has a result");
            let bits = width(self.program, function, Operand::Register(result));
            let value = self.operation(&instruction.operation) & (u64::MAX >> (64 - bits));
            self.registers.insert(result, value);
        }
        match &block.terminator.kind {
            TerminatorKind::Jump(to) => Some(*to),
            TerminatorKind::Branch { condition, when_true, when_false } => {
                Some(if self.value(*condition) == 1 { *when_true } else { *when_false })
            }
            TerminatorKind::Switch { value, cases, default } => {
                let number = self.value(*value);
                let case = cases.iter().find(|(case, _)| self.value(Operand::Constant(*case)) == number);
                Some(case.map_or(*default, |(_, to)| *to))
            }
            _ => None,
        }
    }

    fn check(&self, valuation: &Valuation, definitions: &Definitions<'_>, what: &str) -> usize {
        for (register, knowledge) in valuation.iter() {
            if let Some(value) = self.registers.get(register) {
                assert!(knowledge.allows(*value), "%{} is {value}, said {knowledge:?}: {what}", usize::from(*register));
            }
        }
        for (register, value) in &self.registers {
            let said = valuation.evaluate(definitions, Operand::Register(*register));
            assert!(said.is_none_or(|said| said == *value), "%{} is {value}, evaluated {said:?}: {what}", usize::from(*register));
        }
        let about_inputs = |(register, _): &&(RegisterId, Knowledge)| usize::from(*register) < 2;
        valuation.iter().filter(about_inputs).count()
    }
}

#[test]
fn what_is_said_of_an_edge_holds_for_every_input_that_takes_it() {
    let inputs: Vec<u32> = (0..6).chain([u32::MAX - 1, u32::MAX, 1 << 31, 0x100]).collect();
    let (mut facts, mut edges, mut pruned) = (0, 0, 0);
    for seed in 0..1500 {
        let text = function(&mut Random::new(seed));
        let program = super::program(&text);
        let id = program.function_named("main").expect("main is there");
        let definitions = Definitions::of(&program, id);
        for &first in &inputs {
            for &second in &inputs {
                let registers = BTreeMap::from([(RegisterId::from(0), first.into()), (RegisterId::from(1), second.into())]);
                let mut run = Run { program: &program, function: &program.functions[id], registers };
                let mut valuation = Valuation::default();
                let (mut block, mut from) = (program.functions[id].entry(), None);
                while let Some(next) = run.block(block, from) {
                    edges += 1;
                    assert!(valuation.assume(&definitions, block, next), "the edge is taken with {first}, {second}:\n{text}");
                    facts += run.check(&valuation, &definitions, &text);
                    let others = program.functions[id].blocks[block].terminator.kind.successors();
                    pruned += others
                        .into_iter()
                        .filter(|other| *other != next && !valuation.clone().assume(&definitions, block, *other))
                        .count();
                    // The phis of the next block are executed now.
                    let mut entered = run.registers.clone();
                    let target = &program.functions[id].blocks[next];
                    for phi in &target.phis {
                        let way = target.predecessors.iter().position(|one| *one == block).expect("it comes from there");
                        entered.insert(phi.result, run.value(phi.operands[way]));
                    }
                    valuation.enter(&definitions, block, next);
                    let entered = Run { program: &program, function: run.function, registers: entered };
                    entered.check(&valuation, &definitions, &text);
                    (from, block) = (Some(block), next);
                }
            }
        }
    }
    println!("{edges} edges taken, {facts} facts about inputs, {pruned} other edges excluded");
    assert!(facts > edges / 4 && pruned > edges / 4, "{edges} edges, {facts} facts, {pruned} excluded");
}

#[test]
fn joined_knowledge_holds_for_both() {
    let values = 0..5u64;
    let all: Vec<Knowledge> = values
        .clone()
        .map(Knowledge::Equal)
        .chain(values.clone().map(Knowledge::not_equal))
        .chain(values.clone().filter_map(|value| Knowledge::not_equal(value).and(&Knowledge::not_equal((value + 1) % 5))))
        .collect();
    for left in &all {
        for right in &all {
            for value in values.clone() {
                let either = left.or(right);
                assert!(either.is_none_or(|either| either.allows(value) || !left.allows(value) && !right.allows(value)));
                let both = left.and(right);
                let is_both = left.allows(value) && right.allows(value);
                assert_eq!(both.is_some_and(|both| both.allows(value)), is_both, "{left:?} and {right:?} of {value}");
            }
        }
    }
}
