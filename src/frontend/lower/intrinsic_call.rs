//! Calls of intrinsics, as the operations they stand for.

use super::body::Body;
use super::instruction::relations;
use super::intrinsic::KnownIntrinsic;
use super::llvm::Value;
use crate::program::{
    Access, Argument, ArithmeticFlags, AssumptionKind, BinaryOp, Callee, CastKind, OffsetTarget, OffsetTerm, Operand, Operation,
    Predicate, Scalar, Scope, Type,
};

impl Body<'_> {
    pub(super) fn intrinsic_call(&mut self, call: Value, known: KnownIntrinsic) {
        match known {
            KnownIntrinsic::None => unreachable!("only intrinsics come here"),
            // Their results, if any, were replaced when registers were handed out.
            KnownIntrinsic::Dropped | KnownIntrinsic::SameAsFirst | KnownIntrinsic::Number(_) | KnownIntrinsic::NoPointer => {}
            KnownIntrinsic::Pure(function) => {
                let arguments = self.arguments(call);
                self.define(call, Operation::Intrinsic { function, arguments });
            }
            KnownIntrinsic::Binary(op) => {
                let (left, right) = (self.argument(call, 0), self.argument(call, 1));
                self.define(call, Operation::Binary { op, flags: ArithmeticFlags::default(), left, right });
            }
            KnownIntrinsic::Cast(kind) => {
                let value = self.argument(call, 0);
                self.define(call, Operation::Cast { kind, value });
            }
            KnownIntrinsic::Negate => {
                let value = self.argument(call, 0);
                self.define(call, Operation::Negate { value });
            }
            KnownIntrinsic::StrictCompare => self.strict_compare(call),
            KnownIntrinsic::CopyMemory { may_overlap, elements_are_atomic } => {
                let (destination, source, size) = (self.argument(call, 0), self.argument(call, 1), self.argument(call, 2));
                let is_volatile = self.memory_is_volatile(call, elements_are_atomic);
                let is_assignment = self.lowering.is_assignment(call);
                self.perform(Operation::CopyMemory { destination, source, size, may_overlap, is_volatile, is_assignment });
            }
            KnownIntrinsic::SetMemory { elements_are_atomic } => {
                let (destination, byte, size) = (self.argument(call, 0), self.argument(call, 1), self.argument(call, 2));
                let is_volatile = self.memory_is_volatile(call, elements_are_atomic);
                self.perform(Operation::SetMemory { destination, byte, size, is_volatile });
            }
            KnownIntrinsic::LifetimeStart => self.lifetime(call, |address| Operation::LifetimeStart { address }),
            KnownIntrinsic::LifetimeEnd => self.lifetime(call, |address| Operation::LifetimeEnd { address }),
            KnownIntrinsic::StackSave => self.define(call, Operation::StackSave),
            KnownIntrinsic::StackRestore => {
                let saved = self.argument(call, 0);
                self.perform(Operation::StackRestore { saved });
            }
            KnownIntrinsic::VariadicStart => {
                let list = self.argument(call, 0);
                self.perform(Operation::VariadicStart { list });
            }
            KnownIntrinsic::VariadicCopy => {
                let (to, from) = (self.argument(call, 0), self.argument(call, 1));
                self.perform(Operation::VariadicCopy { to, from });
            }
            KnownIntrinsic::VariadicEnd => {
                let list = self.argument(call, 0);
                self.perform(Operation::VariadicEnd { list });
            }
            KnownIntrinsic::Assume => {
                // Promises in operand bundles are dropped: a program that breaks one is only run further.
                let condition = self.argument(call, 0);
                if condition != self.integer(1, 1) {
                    self.perform(Operation::Assume { condition });
                }
            }
            KnownIntrinsic::Trap => self.perform(Operation::Trap),
            KnownIntrinsic::FrameAddress => self.define(call, Operation::FrameAddress),
            KnownIntrinsic::CycleCounter => self.define(call, Operation::CycleCounter),
            KnownIntrinsic::ThreadLocalAddress => self.thread_local_address(call),
            KnownIntrinsic::MaskedLoad => self.masked_load(call),
            KnownIntrinsic::MaskedStore => self.masked_store(call),
            KnownIntrinsic::LoadRelative => self.load_relative(call),
            KnownIntrinsic::ExtractSubvector => self.extract_subvector(call),
            KnownIntrinsic::InsertSubvector => self.insert_subvector(call),
            KnownIntrinsic::ReverseLanes => self.reverse_lanes(call),
            KnownIntrinsic::Library(name) => self.library_call(call, name),
            KnownIntrinsic::Processor(processor) => self.processor_call(call, processor),
            KnownIntrinsic::Target => {
                let gets_address =
                    (0..call.argument_count()).any(|index| self.value_type(call.operand(index)) == Some(Type::POINTER));
                let kind = if gets_address { AssumptionKind::TargetIntrinsic } else { AssumptionKind::NotComputed };
                self.assume(kind, call.called_value().name());
                self.ordinary_call(call);
            }
            KnownIntrinsic::Unknown => self.unknown(call),
        }
    }

    pub(super) fn argument(&mut self, call: Value, index: u32) -> Operand {
        self.operand(call.operand(index))
    }

    /// All arguments but metadata.
    pub(super) fn arguments(&mut self, call: Value) -> Vec<Operand> {
        (0..call.argument_count())
            .map(|index| call.operand(index))
            .filter(|argument| self.lowering.types.get(argument.ty()).is_some())
            .collect::<Vec<_>>()
            .into_iter()
            .map(|argument| self.operand(argument))
            .collect()
    }

    /// The volatile flag of a memory intrinsic. The atomic ones have the size of an element in its place.
    fn memory_is_volatile(&mut self, call: Value, elements_are_atomic: bool) -> bool {
        if elements_are_atomic {
            // The copy is made of plain accesses: that each element is atomic is not kept.
            self.assume(AssumptionKind::TargetIntrinsic, call.called_value().name());
            return false;
        }
        !call.operand(3).is_null_constant()
    }

    /// The address is the last argument; older bitcode has the size in front of it.
    fn lifetime(&mut self, call: Value, operation: impl Fn(Operand) -> Operation) {
        let address = self.argument(call, call.argument_count() - 1);
        self.perform(operation(address));
    }

    fn thread_local_address(&mut self, call: Value) {
        use llvm_sys::LLVMValueKind::LLVMGlobalAliasValueKind;
        let mut variable = call.operand(0);
        while variable.kind() == LLVMGlobalAliasValueKind {
            variable = variable.aliasee();
        }
        match self.lowering.globals.get(&variable) {
            Some(&global) => self.define(call, Operation::ThreadLocalAddress { global }),
            None => self.unknown(call),
        }
    }

    /// `(pointers, [alignment], mask, otherwise)`.
    fn masked_load(&mut self, call: Value) {
        let count = call.argument_count();
        let address = self.argument(call, 0);
        let mask = self.argument(call, count - 2);
        let otherwise = self.argument(call, count - 1);
        self.define(call, Operation::MaskedLoad { address, mask, otherwise });
    }

    /// `(value, pointers, [alignment], mask)`.
    fn masked_store(&mut self, call: Value) {
        let value = self.argument(call, 0);
        let address = self.argument(call, 1);
        let mask = self.argument(call, call.argument_count() - 1);
        self.perform(Operation::MaskedStore { address, mask, value });
    }

    /// `table + *(int32 *)(table + offset)`: a table of distances from its own start. The result points into another object, so the
    /// sum is made of integers.
    fn load_relative(&mut self, call: Value) {
        let table = self.argument(call, 0);
        let index = self.argument(call, 1);
        let terms = vec![OffsetTerm { index, stride: 1, count: None }];
        let entry = self.emit(
            Type::POINTER,
            Operation::Offset { base: table, constant: 0, terms, in_bounds: true, structure: None, target: OffsetTarget::Moved },
        );
        let access = Access { ordering: None, scope: Scope::System, is_volatile: false, align: 4, alias: None };
        let distance = self.emit(Type::integer(32), Operation::Load { address: entry, access });
        let word = Type::integer(self.lowering.program.layout.pointer_bits());
        let distance = match word {
            Type::Scalar(Scalar::Integer(32)) => distance,
            _ => self.emit(word, Operation::Cast { kind: CastKind::SignExtend, value: distance }),
        };
        let start = self.emit(word, Operation::Cast { kind: CastKind::PointerToInteger, value: table });
        let flags = ArithmeticFlags::default();
        let sum = self.emit(word, Operation::Binary { op: BinaryOp::Add, flags, left: start, right: distance });
        self.define(call, Operation::Cast { kind: CastKind::IntegerToPointer, value: sum });
    }

    /// The predicate is a metadata string such as `oeq`.
    fn strict_compare(&mut self, call: Value) {
        const NAMES: [&str; 16] =
            ["false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord", "uno", "ueq", "ugt", "uge", "ult", "ule", "une", "true"];
        let predicate = call.operand(2).metadata_string();
        let Some(bits) = NAMES.iter().position(|name| predicate.as_deref() == Some(*name)) else { return self.unknown(call) };
        let (left, right) = (self.argument(call, 0), self.argument(call, 1));
        let predicate = Predicate::Float(relations(bits as u32));
        self.define(call, Operation::Compare { predicate, left, right });
    }

    /// A function of the C library: `sinh`, `sinhf` or `sinhl` by the type of the number.
    fn library_call(&mut self, call: Value, name: &str) {
        let suffix = match self.value_type(call) {
            Some(Type::Scalar(Scalar::Float)) => "f",
            Some(Type::Scalar(Scalar::Double)) => "",
            Some(Type::Scalar(Scalar::X86Fp80)) => "l",
            _ => return self.unknown(call),
        };
        let function = self.lowering.library_function(&format!("{name}{suffix}"), call.called_type());
        let arguments = self.arguments(call).into_iter().map(|value| Argument { value, by_value: None }).collect();
        self.define(call, Operation::Call { callee: Callee::Direct(function), arguments, is_variadic: false });
    }
}
