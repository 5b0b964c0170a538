//! Constants that are leaves: numbers, null, addresses, and vectors and aggregates of these.

use llvm_sys::LLVMTypeKind;
use llvm_sys::LLVMValueKind::*;
use num_bigint::{BigInt, Sign};

use super::Lowering;
use super::llvm::{LlvmType, Value};
use crate::program::{Constant, ConstantId, Scalar, Type};

impl Lowering {
    /// The constant that a value is; `None` when it takes instructions to compute it (an expression, a thread-local address).
    pub(super) fn leaf(&mut self, value: Value) -> Option<ConstantId> {
        if let Some(known) = self.constants.get(&value) {
            return *known;
        }
        let id = self.lower_leaf(value).map(|constant| self.program.constants.intern(constant));
        self.constants.insert(value, id);
        id
    }

    fn lower_leaf(&mut self, value: Value) -> Option<Constant> {
        let constant = match value.kind() {
            LLVMConstantIntValueKind | LLVMConstantFPValueKind => {
                let ty = value.ty();
                match self.types.get(ty)? {
                    Type::Scalar(Scalar::Integer(bits)) => integer(value, bits),
                    Type::Scalar(kind) => self.float(value, kind),
                    // A splat written as one number.
                    Type::Vector { .. } => return self.vector_leaf(value, ty),
                    Type::Void | Type::Aggregate { .. } => return None,
                }
            }
            LLVMConstantPointerNullValueKind => {
                self.types.get(value.ty())?;
                Constant::Null
            }
            LLVMUndefValueValueKind => Constant::Undef(self.types.get(value.ty())?),
            LLVMPoisonValueKind => Constant::Poison(self.types.get(value.ty())?),
            LLVMConstantAggregateZeroValueKind => Constant::Zero(self.types.get(value.ty())?),
            LLVMConstantDataVectorValueKind | LLVMConstantVectorValueKind => return self.vector_leaf(value, value.ty()),
            LLVMConstantDataArrayValueKind | LLVMConstantArrayValueKind | LLVMConstantStructValueKind => {
                return self.aggregate_leaf(value);
            }
            LLVMFunctionValueKind | LLVMGlobalIFuncValueKind => Constant::Function(self.function(value)),
            LLVMGlobalVariableValueKind if value.is_thread_local() => return None,
            LLVMGlobalVariableValueKind => Constant::Global(*self.globals.get(&value)?),
            LLVMGlobalAliasValueKind => {
                let aliasee = self.leaf(value.aliasee())?;
                return Some(self.program.constants[aliasee].clone());
            }
            LLVMBlockAddressValueKind => {
                let (function, block) = value.block_address();
                let function = self.function(function);
                Constant::Block(function, *self.blocks.get(&block)?)
            }
            // A number that no address is part of: `(size_t)&((struct s *)0)->member`.
            LLVMConstantExprValueKind => match self.types.get(value.ty())? {
                Type::Scalar(Scalar::Integer(bits)) if bits <= 64 => {
                    Constant::integer(bits, u128::from(self.fold_number(value)?))
                }
                _ => return None,
            },
            LLVMConstantTokenNoneValueKind
            | LLVMConstantTargetNoneValueKind
            | LLVMConstantPtrAuthValueKind
            | LLVMArgumentValueKind
            | LLVMBasicBlockValueKind
            | LLVMMemoryUseValueKind
            | LLVMMemoryDefValueKind
            | LLVMMemoryPhiValueKind
            | LLVMMetadataAsValueValueKind
            | LLVMInlineAsmValueKind
            | LLVMInstructionValueKind => return None,
        };
        Some(constant)
    }

    /// The bit pattern of a floating-point constant: LLVM folds its cast to an integer of the same size.
    fn float(&mut self, value: Value, kind: Scalar) -> Constant {
        let width = self.program.layout.scalar_bits(kind);
        let bits = value.bitcast_constant(self.module.integer_type(width));
        match integer(bits, width) {
            Constant::Integer { value, .. } => Constant::Float { kind, bits: value },
            other => unreachable!("a floating-point number has at most 128 bits: {other:?}"),
        }
    }

    fn vector_leaf(&mut self, value: Value, ty: LlvmType) -> Option<Constant> {
        let Type::Vector { lanes, element } = self.types.get(ty)? else { return None };
        let lanes = (0..lanes).map(|lane| self.leaf(value.aggregate_element(lane)?)).collect::<Option<Vec<_>>>()?;
        Some(Constant::Vector { element, lanes })
    }

    fn aggregate_leaf(&mut self, value: Value) -> Option<Constant> {
        let ty = value.ty();
        let Type::Aggregate { size } = self.types.get(ty)? else { return None };
        let mut elements = Vec::new();
        for index in 0..aggregate_length(ty) {
            let (offset, element_type) = self.types.part(ty, &[index]);
            let element = self.leaf(value.aggregate_element(index)?)?;
            if self.types.layout.size(element_type) > 0 {
                elements.push((offset, element));
            }
        }
        Some(Constant::Aggregate { size, elements })
    }

    pub(super) fn intern(&mut self, constant: Constant) -> ConstantId {
        self.program.constants.intern(constant)
    }
}

/// The number of parts of a struct or array type.
pub fn aggregate_length(ty: LlvmType) -> u32 {
    match ty.kind() {
        LLVMTypeKind::LLVMStructTypeKind => ty.field_count(),
        _ => u32::try_from(ty.array_length()).expect("a constant array is written out element by element"),
    }
}

fn integer(value: Value, bits: u32) -> Constant {
    if bits <= 64 {
        return Constant::integer(bits, u128::from(value.integer_value()));
    }
    let words = wide_words(value, bits);
    if bits <= 128 {
        Constant::integer(bits, u128::from(words[0]) | u128::from(words[1]) << 64)
    } else {
        Constant::WideInteger { bits, words }
    }
}

/// The little-endian words of an integer constant. LLVM's C interface gives wide ones only as text: `i128 -42`.
fn wide_words(value: Value, bits: u32) -> Vec<u64> {
    let text = value.text();
    let digits = text.rsplit(' ').next().unwrap_or_default();
    let number: BigInt = digits.parse().unwrap_or_else(|_| panic!("LLVM prints an integer constant in decimal: {text}"));
    let modulus = BigInt::from(1) << bits;
    let wrapped = if number.sign() == Sign::Minus { number + modulus } else { number };
    let mut words = wrapped.to_u64_digits().1;
    words.resize(bits.div_ceil(64) as usize, 0);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_integers_keep_all_bits() {
        let context = inkwell::context::Context::create();
        let module = context.create_module("wide");
        let ty = context.custom_width_int_type(std::num::NonZero::new(200).unwrap()).unwrap();
        let value = ty.const_int(5, false).const_not();
        let global = module.add_global(ty, None, "wide");
        global.set_initializer(&value);
        let handle = super::super::llvm::ModuleHandle::new(&module);
        let initializer = handle.globals().next().unwrap().initializer().unwrap();
        assert_eq!(wide_words(initializer, 200), [!5, u64::MAX, u64::MAX, 0xff]);
    }
}
