//! The type rules of operations.

use super::FunctionChecker;
use crate::program::{
    BinaryOp, Callee, CastKind, Instruction, Intrinsic, OffsetTerm, Operand, Operation, Ordering, Predicate, Scalar, Type,
};

impl FunctionChecker<'_, '_> {
    pub(super) fn check_operation(&mut self, instruction: &Instruction) {
        let result = match instruction.result {
            Some(register) => self.function.registers.get(register).map_or(Type::Void, |register| register.ty),
            None => Type::Void,
        };
        match &instruction.operation {
            Operation::Binary { op, left, right, .. } => {
                self.all(result, &[*left, *right], "an operand of a binary operation");
                let is_float = result.element().is_some_and(Scalar::is_float);
                let is_integer = matches!(result.element(), Some(Scalar::Integer(_)));
                let fits = if is_float_op(*op) { is_float } else { is_integer };
                self.require(fits, || format!("{op:?} of {result:?}"));
            }
            Operation::Negate { value } => {
                self.all(result, &[*value], "a negated number");
                self.require(result.element().is_some_and(Scalar::is_float), || format!("negation of {result:?}"));
            }
            Operation::Compare { predicate, left, right } => self.check_compare(result, *predicate, *left, *right),
            Operation::Cast { kind, value } => self.check_cast(result, *kind, *value),
            Operation::Select { condition, when_true, when_false } => {
                self.all(result, &[*when_true, *when_false], "an alternative");
                let condition = self.operand(*condition);
                let fits = condition == Some(Type::BOOL) || condition.is_some() && condition == booleans(result);
                self.require(fits, || format!("a condition of type {condition:?} selects {result:?}"));
            }
            Operation::Freeze { value } => self.all(result, &[*value], "a frozen value"),
            Operation::Offset { base, terms, structure, .. } => {
                self.check_offset(result, *base, terms);
                let is_known = structure.is_none_or(|name| usize::from(name) < self.checker.program.structures.len());
                self.require(is_known, || "a member of a structure that is not there".to_owned());
            }
            Operation::ExtractBytes { aggregate, offset } => self.check_part(*aggregate, *offset, result),
            Operation::InsertBytes { aggregate, offset, value } => {
                self.all(result, &[*aggregate], "an aggregate");
                if let Some(part) = self.operand(*value) {
                    self.check_part(*aggregate, *offset, part);
                }
            }
            Operation::ExtractLane { vector, lane } => {
                let element = self.operand(*vector).and_then(element_of_vector).map(Type::Scalar);
                self.require(element == Some(result), || format!("a lane of type {element:?} as {result:?}"));
                self.integer(*lane, "a lane's number");
            }
            Operation::InsertLane { vector, value, lane } => {
                self.all(result, &[*vector], "a vector");
                let (element, value) = (element_of_vector(result).map(Type::Scalar), self.operand(*value));
                self.require(element == value, || format!("a lane of type {element:?} gets {value:?}"));
                self.integer(*lane, "a lane's number");
            }
            Operation::Shuffle { left, right, mask } => self.check_shuffle(result, *left, *right, mask),
            Operation::Intrinsic { function, arguments } => self.check_intrinsic(result, *function, arguments),
            operation => {
                self.alias(operation);
                self.check_effect(result, operation)
            }
        }
    }

    /// Operations on memory, control and the outside world.
    fn check_effect(&mut self, result: Type, operation: &Operation) {
        match operation {
            Operation::StackAllocate { count, align, .. } => {
                self.require(result == Type::POINTER, || "a stack object is a pointer".to_owned());
                self.require(align.is_power_of_two(), || format!("alignment {align}"));
                self.integer(*count, "a number of elements");
            }
            Operation::StackSave | Operation::FrameAddress | Operation::ThreadLocalAddress { .. } => {
                self.require(result == Type::POINTER, || format!("{operation:?} is a pointer, not {result:?}"));
                if let Operation::ThreadLocalAddress { global } = operation {
                    let fits = self.checker.program.globals.get(*global).is_some_and(|global| global.is_thread_local);
                    self.require(fits, || "the address of a global that is not thread-local".to_owned());
                }
            }
            Operation::StackRestore { saved: address }
            | Operation::LifetimeStart { address }
            | Operation::LifetimeEnd { address }
            | Operation::VariadicStart { list: address }
            | Operation::VariadicEnd { list: address } => self.effect(result, &[*address]),
            Operation::VariadicCopy { to, from } => self.effect(result, &[*to, *from]),
            Operation::VariadicNext { list } => {
                self.pointer(*list);
                self.require(result != Type::Void, || "an argument of no type".to_owned());
            }
            Operation::Load { address, access } => {
                self.pointer(*address);
                self.require(result != Type::Void, || "a load of nothing".to_owned());
                let releases =
                    access.ordering.is_some_and(|ordering| matches!(ordering, Ordering::Release | Ordering::AcquireRelease));
                self.require(!releases, || "a load that releases".to_owned());
            }
            Operation::Store { address, value, access } => {
                self.effect(result, &[*address]);
                self.operand(*value);
                let acquires =
                    access.ordering.is_some_and(|ordering| matches!(ordering, Ordering::Acquire | Ordering::AcquireRelease));
                self.require(!acquires, || "a store that acquires".to_owned());
            }
            Operation::ReadModifyWrite { address, value, access, .. } => {
                self.pointer(*address);
                self.all(result, &[*value], "the operand of a read-modify-write");
                self.require(access.is_atomic(), || "a read-modify-write without an ordering".to_owned());
            }
            Operation::CompareExchange { address, expected, replacement, access, success_offset, .. } => {
                self.pointer(*address);
                let ty = self.operand(*expected).unwrap_or(Type::Void);
                self.all(ty, &[*replacement], "the new value");
                let size = self.checker.program.layout.store_bytes(ty);
                let fits =
                    matches!(result, Type::Aggregate { size: whole } if size <= *success_offset && *success_offset < whole);
                self.require(fits, || format!("a compare-exchange of {ty:?} makes {result:?}"));
                self.require(access.is_atomic(), || "a compare-exchange without an ordering".to_owned());
            }
            Operation::CopyMemory { destination, source, size, .. } => {
                self.effect(result, &[*destination, *source]);
                self.integer(*size, "a size");
            }
            Operation::SetMemory { destination, byte, size, .. } => {
                self.effect(result, &[*destination]);
                self.all(Type::integer(8), &[*byte], "the byte");
                self.integer(*size, "a size");
            }
            Operation::MaskedLoad { address, mask, otherwise } => {
                self.all(result, &[*otherwise], "the value of a masked lane");
                self.check_masked(result, *address, *mask);
            }
            Operation::MaskedStore { address, mask, value } => {
                self.require(result == Type::Void, || "a store has no result".to_owned());
                let ty = self.operand(*value).unwrap_or(Type::Void);
                self.check_masked(ty, *address, *mask);
            }
            Operation::Call { callee, arguments, .. } => {
                for argument in arguments {
                    self.operand(argument.value);
                    if argument.by_value.is_some() {
                        self.pointer(argument.value);
                    }
                }
                match callee {
                    Callee::Direct(function) => {
                        let known = usize::from(*function) < self.checker.program.functions.len();
                        self.require(known, || "a call of no function".to_owned());
                    }
                    Callee::Indirect(pointer) => self.pointer(*pointer),
                }
            }
            Operation::InlineAssembly { arguments, .. } => {
                for argument in arguments {
                    self.operand(*argument);
                }
            }
            Operation::Assume { condition } => {
                self.require(result == Type::Void, || "an assumption has no result".to_owned());
                self.all(Type::BOOL, &[*condition], "an assumed condition");
            }
            Operation::Fence { .. } | Operation::Trap => {
                self.require(result == Type::Void, || format!("{operation:?} has no result"));
            }
            Operation::CycleCounter => {
                self.require(matches!(result, Type::Scalar(Scalar::Integer(_))), || "a counter is an integer".to_owned());
            }
            other => unreachable!("checked as a value: {other:?}"),
        }
    }

    fn all(&mut self, ty: Type, operands: &[Operand], what: &str) {
        for &operand in operands {
            self.require_type(operand, ty, what);
        }
    }

    fn alias(&mut self, operation: &Operation) {
        if let Operation::Load { access, .. }
        | Operation::Store { access, .. }
        | Operation::ReadModifyWrite { access, .. }
        | Operation::CompareExchange { access, .. } = operation
            && let Some(alias) = access.alias
        {
            let is_known = usize::from(alias) < self.checker.program.alias_types.len();
            self.require(is_known, || format!("an access of a type {} that is not there", usize::from(alias)));
        }
    }

    fn pointer(&mut self, operand: Operand) {
        self.require_type(operand, Type::POINTER, "an address");
    }

    /// No result, and these operands are addresses.
    fn effect(&mut self, result: Type, addresses: &[Operand]) {
        self.require(result == Type::Void, || "an effect has no result".to_owned());
        self.all(Type::POINTER, addresses, "an address");
    }

    fn integer(&mut self, operand: Operand, what: &str) {
        let ty = self.operand(operand);
        self.require(matches!(ty, Some(Type::Scalar(Scalar::Integer(_)))), || format!("{what} has type {ty:?}"));
    }

    fn check_compare(&mut self, result: Type, predicate: Predicate, left: Operand, right: Operand) {
        let Some(ty) = self.operand(left) else { return };
        self.all(ty, &[right], "the right side of a comparison");
        self.require(booleans(ty) == Some(result), || format!("a comparison of {ty:?} makes {result:?}"));
        let is_float = ty.element().is_some_and(Scalar::is_float);
        let fits = matches!(predicate, Predicate::Float(_)) == is_float;
        self.require(fits, || format!("{predicate:?} of {ty:?}"));
    }

    fn check_cast(&mut self, result: Type, kind: CastKind, value: Operand) {
        let Some(from) = self.operand(value) else { return };
        let layout = &self.checker.program.layout;
        if kind == CastKind::Bitcast {
            let bits = |ty: Type| match ty {
                Type::Scalar(scalar) => u64::from(layout.scalar_bits(scalar)),
                Type::Vector { lanes, element } => u64::from(lanes) * u64::from(layout.scalar_bits(element)),
                Type::Void | Type::Aggregate { .. } => 0,
            };
            let fits = bits(from) != 0 && bits(from) == bits(result);
            return self.require(fits, || format!("a bitcast from {from:?} to {result:?}"));
        }
        use Scalar::{Integer, Pointer};
        let widths = |scalar: Scalar| layout.scalar_bits(scalar);
        let fits = lanes(from) == lanes(result)
            && match (kind, from.element(), result.element()) {
                (CastKind::Truncate, Some(Integer(wide)), Some(Integer(narrow))) => narrow < wide,
                (CastKind::ZeroExtend | CastKind::SignExtend, Some(Integer(narrow)), Some(Integer(wide))) => narrow < wide,
                (CastKind::FloatTruncate, Some(wide), Some(narrow)) => {
                    wide.is_float() && narrow.is_float() && widths(narrow) < widths(wide)
                }
                (CastKind::FloatExtend, Some(narrow), Some(wide)) => {
                    wide.is_float() && narrow.is_float() && widths(narrow) < widths(wide)
                }
                (CastKind::FloatToUnsigned | CastKind::FloatToSigned, Some(float), Some(Integer(_))) => float.is_float(),
                (CastKind::UnsignedToFloat | CastKind::SignedToFloat, Some(Integer(_)), Some(float)) => float.is_float(),
                (CastKind::PointerToInteger, Some(Pointer), Some(Integer(_))) => true,
                (CastKind::IntegerToPointer, Some(Integer(_)), Some(Pointer)) => true,
                _ => false,
            };
        self.require(fits, || format!("{kind:?} from {from:?} to {result:?}"));
    }

    fn check_offset(&mut self, result: Type, base: Operand, terms: &[OffsetTerm]) {
        self.all(result, &[base], "the base of an offset");
        self.require(result.element() == Some(Scalar::Pointer), || format!("an offset makes {result:?}"));
        for term in terms {
            let Some(index) = self.operand(term.index) else { continue };
            let fits = matches!(index.element(), Some(Scalar::Integer(_))) && lanes(index) == lanes(result);
            self.require(fits, || format!("an index of type {index:?}"));
        }
    }

    fn check_part(&mut self, aggregate: Operand, offset: u64, part: Type) {
        let whole = self.operand(aggregate);
        let end = offset + self.checker.program.layout.store_bytes(part);
        let fits = matches!(whole, Some(Type::Aggregate { size }) if end <= size) && part != Type::Void;
        self.require(fits, || format!("{part:?} at {offset} of {whole:?}"));
    }

    fn check_shuffle(&mut self, result: Type, left: Operand, right: Operand, mask: &[Option<u32>]) {
        let Some(source) = self.operand(left) else { return };
        self.all(source, &[right], "the right side of a shuffle");
        let count = lanes(source).unwrap_or(0);
        let in_range = mask.iter().flatten().all(|lane| *lane < 2 * count);
        let fits = element_of_vector(source) == element_of_vector(result) && lanes(result) == Some(mask.len() as u32);
        self.require(in_range && fits && count > 0, || format!("a shuffle of {source:?} makes {result:?}"));
    }

    /// One pointer for consecutive lanes, or one for each lane.
    fn check_masked(&mut self, data: Type, address: Operand, mask: Operand) {
        let pointers = self.operand(address);
        let fits = match pointers {
            Some(Type::Vector { element: Scalar::Pointer, lanes: count }) => lanes(data) == Some(count),
            other => other == Some(Type::POINTER),
        };
        self.require(fits, || format!("{data:?} at addresses of type {pointers:?}"));
        let bits = self.operand(mask);
        self.require(bits.is_some() && lanes(data).is_some() && bits == booleans(data), || format!("a mask of type {bits:?}"));
    }

    fn check_intrinsic(&mut self, result: Type, function: Intrinsic, arguments: &[Operand]) {
        let types: Vec<Option<Type>> = arguments.iter().map(|argument| self.operand(*argument)).collect();
        let first = types.first().copied().flatten();
        use Intrinsic::*;
        let (count, first_is_result) = match function {
            ByteSwap | BitReverse | CountOnes | FloatAbsolute | SquareRoot | Floor | Ceiling | FloatTruncate | Round
            | RoundEven | Sine | Cosine | Tangent | Exponential | Exponential2 | Logarithm | Logarithm2 | Logarithm10 => {
                (1, true)
            }
            LeadingZeros
            | TrailingZeros
            | Absolute
            | SignedMax
            | SignedMin
            | UnsignedMax
            | UnsignedMin
            | SaturatingSignedAdd
            | SaturatingUnsignedAdd
            | SaturatingSignedSubtract
            | SaturatingUnsignedSubtract
            | SaturatingSignedShiftLeft
            | SaturatingUnsignedShiftLeft
            | CopySign
            | FloatMin
            | FloatMax
            | FloatMinimum
            | FloatMaximum
            | Power
            | PowerInteger
            | LoadExponent
            | PointerMask => (2, true),
            FunnelShiftLeft | FunnelShiftRight | FusedMultiplyAdd | MultiplyAdd => (3, true),
            SignedCompare
            | UnsignedCompare
            | IsFloatClass
            | SignedAddOverflow
            | UnsignedAddOverflow
            | SignedSubtractOverflow
            | UnsignedSubtractOverflow
            | SignedMultiplyOverflow
            | UnsignedMultiplyOverflow => (2, false),
            RoundToInteger
            | RoundHalfAwayToInteger
            | SaturatingFloatToSigned
            | SaturatingFloatToUnsigned
            | IsConstant
            | SignMask
            | ReduceAdd
            | ReduceMultiply
            | ReduceAnd
            | ReduceOr
            | ReduceXor
            | ReduceSignedMax
            | ReduceSignedMin
            | ReduceUnsignedMax
            | ReduceUnsignedMin
            | ReduceFloatMax
            | ReduceFloatMin => (1, false),
            ReduceFloatAdd | ReduceFloatMultiply => (2, true),
            ObjectSize => (4, false),
        };
        let fits = arguments.len() == count && (!first_is_result || first == Some(result)) && result != Type::Void;
        self.require(fits, || format!("{function:?} of {types:?} makes {result:?}"));
    }
}

fn is_float_op(op: BinaryOp) -> bool {
    use BinaryOp::*;
    match op {
        FloatAdd | FloatSubtract | FloatMultiply | FloatDivide | FloatRemainder => true,
        Add | Subtract | Multiply | UnsignedDivide | SignedDivide | UnsignedRemainder | SignedRemainder | ShiftLeft
        | LogicalShiftRight | ArithmeticShiftRight | And | Or | Xor => false,
    }
}

/// 1 for a scalar.
fn lanes(ty: Type) -> Option<u32> {
    match ty {
        Type::Vector { lanes, .. } => Some(lanes),
        Type::Scalar(_) => Some(1),
        Type::Void | Type::Aggregate { .. } => None,
    }
}

fn element_of_vector(ty: Type) -> Option<Scalar> {
    match ty {
        Type::Vector { element, .. } => Some(element),
        Type::Void | Type::Scalar(_) | Type::Aggregate { .. } => None,
    }
}

/// What a comparison of this type makes.
fn booleans(ty: Type) -> Option<Type> {
    match ty {
        Type::Scalar(_) => Some(Type::BOOL),
        Type::Vector { lanes, .. } => Some(Type::Vector { lanes, element: Scalar::Integer(1) }),
        Type::Void | Type::Aggregate { .. } => None,
    }
}
