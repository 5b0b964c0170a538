//! Which intrinsic a called function is, and what becomes of it. Looked up once for each declared function.

use super::Lowering;
use super::llvm::Value;
use super::processor::Processor;
use crate::program::{BinaryOp, CastKind, Intrinsic};

/// What an intrinsic becomes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum KnownIntrinsic {
    /// An ordinary function.
    None,
    /// Speaks to the compiler only.
    Dropped,
    /// Its result is its first argument.
    SameAsFirst,
    /// Its result is this number.
    Number(u128),
    /// Its result is a pointer that nothing may follow.
    NoPointer,
    /// A pure function of all its arguments.
    Pure(Intrinsic),
    /// The same with strict floating-point environment: its last arguments are metadata.
    Binary(BinaryOp),
    Cast(CastKind),
    Negate,
    StrictCompare,
    CopyMemory {
        may_overlap: bool,
        elements_are_atomic: bool,
    },
    SetMemory {
        elements_are_atomic: bool,
    },
    LifetimeStart,
    LifetimeEnd,
    StackSave,
    StackRestore,
    VariadicStart,
    VariadicCopy,
    VariadicEnd,
    Assume,
    Trap,
    FrameAddress,
    CycleCounter,
    ThreadLocalAddress,
    MaskedLoad,
    MaskedStore,
    LoadRelative,
    ExtractSubvector,
    InsertSubvector,
    ReverseLanes,
    /// A function of the C library with the same arguments.
    Library(&'static str),
    Processor(Processor),
    /// An instruction of one processor family without a counterpart.
    Target,
    Unknown,
}

impl Lowering {
    /// The intrinsic that a call instruction calls; `None` for other instructions, and for calls of ordinary functions.
    pub(super) fn known_intrinsic(&mut self, instruction: Value) -> Option<KnownIntrinsic> {
        use llvm_sys::LLVMOpcode::{LLVMCall, LLVMInvoke};
        if !matches!(instruction.opcode(), LLVMCall | LLVMInvoke) {
            return None;
        }
        let callee = instruction.called_value();
        let known = match self.intrinsics.get(&callee) {
            Some(known) => *known,
            None => {
                let known = if callee.is_function() { classify(callee) } else { KnownIntrinsic::None };
                self.intrinsics.insert(callee, known);
                known
            }
        };
        (known != KnownIntrinsic::None).then_some(known)
    }
}

fn classify(function: Value) -> KnownIntrinsic {
    let id = function.intrinsic_id();
    if id != 0 {
        let name = Value::intrinsic_name(id);
        return by_name(name.strip_prefix("llvm.").unwrap_or(&name));
    }
    // A name that only LLVM may use, of an intrinsic that this LLVM does not know.
    if function.name().starts_with("llvm.") { KnownIntrinsic::Unknown } else { KnownIntrinsic::None }
}

fn by_name(name: &str) -> KnownIntrinsic {
    if let Some(processor) = name.strip_prefix("x86.") {
        return super::processor::by_name(processor);
    }
    if let Some(strict) = name.strip_prefix("experimental.constrained.") {
        return strict_by_name(strict);
    }
    if let Some(intrinsic) = pure_by_name(name) {
        return KnownIntrinsic::Pure(intrinsic);
    }
    if let Some(known) = memory_by_name(name) {
        return known;
    }
    match name {
        "prefetch"
        | "donothing"
        | "sideeffect"
        | "experimental.noalias.scope.decl"
        | "var.annotation"
        | "pseudoprobe"
        | "invariant.end"
        | "codeview.annotation"
        | "fake.use"
        | "dbg.declare"
        | "dbg.value"
        | "dbg.assign"
        | "dbg.label"
        | "clear_cache" => KnownIntrinsic::Dropped,
        "expect"
        | "expect.with.probability"
        | "launder.invariant.group"
        | "strip.invariant.group"
        | "annotation"
        | "ptr.annotation"
        | "ssa.copy"
        | "arithmetic.fence"
        | "canonicalize"
        | "preserve.static.offset" => KnownIntrinsic::SameAsFirst,
        "get.rounding" | "allow.runtime.check" | "allow.ubsan.check" => KnownIntrinsic::Number(1),
        "invariant.start" => KnownIntrinsic::NoPointer,
        "assume" => KnownIntrinsic::Assume,
        "trap" | "debugtrap" | "ubsantrap" => KnownIntrinsic::Trap,
        "returnaddress" | "frameaddress" | "addressofreturnaddress" | "sponentry" => KnownIntrinsic::FrameAddress,
        "readcyclecounter" | "readsteadycounter" => KnownIntrinsic::CycleCounter,
        "vector.extract" => KnownIntrinsic::ExtractSubvector,
        "vector.insert" => KnownIntrinsic::InsertSubvector,
        "vector.reverse" => KnownIntrinsic::ReverseLanes,
        "asin" => KnownIntrinsic::Library("asin"),
        "acos" => KnownIntrinsic::Library("acos"),
        "atan" => KnownIntrinsic::Library("atan"),
        "atan2" => KnownIntrinsic::Library("atan2"),
        "sinh" => KnownIntrinsic::Library("sinh"),
        "cosh" => KnownIntrinsic::Library("cosh"),
        "tanh" => KnownIntrinsic::Library("tanh"),
        "exp10" => KnownIntrinsic::Library("exp10"),
        _ => KnownIntrinsic::Unknown,
    }
}

fn memory_by_name(name: &str) -> Option<KnownIntrinsic> {
    Some(match name {
        "memcpy" | "memcpy.inline" => KnownIntrinsic::CopyMemory { may_overlap: false, elements_are_atomic: false },
        "memmove" => KnownIntrinsic::CopyMemory { may_overlap: true, elements_are_atomic: false },
        "memcpy.element.unordered.atomic" => KnownIntrinsic::CopyMemory { may_overlap: false, elements_are_atomic: true },
        "memmove.element.unordered.atomic" => KnownIntrinsic::CopyMemory { may_overlap: true, elements_are_atomic: true },
        "memset" | "memset.inline" => KnownIntrinsic::SetMemory { elements_are_atomic: false },
        "memset.element.unordered.atomic" => KnownIntrinsic::SetMemory { elements_are_atomic: true },
        "lifetime.start" => KnownIntrinsic::LifetimeStart,
        "lifetime.end" => KnownIntrinsic::LifetimeEnd,
        "stacksave" => KnownIntrinsic::StackSave,
        "stackrestore" => KnownIntrinsic::StackRestore,
        "va_start" => KnownIntrinsic::VariadicStart,
        "va_copy" => KnownIntrinsic::VariadicCopy,
        "va_end" => KnownIntrinsic::VariadicEnd,
        "threadlocal.address" => KnownIntrinsic::ThreadLocalAddress,
        "masked.load" | "masked.gather" => KnownIntrinsic::MaskedLoad,
        "masked.store" | "masked.scatter" => KnownIntrinsic::MaskedStore,
        "load.relative" => KnownIntrinsic::LoadRelative,
        _ => return None,
    })
}

fn pure_by_name(name: &str) -> Option<Intrinsic> {
    Some(match name {
        "ctpop" => Intrinsic::CountOnes,
        "ctlz" => Intrinsic::LeadingZeros,
        "cttz" => Intrinsic::TrailingZeros,
        "bswap" => Intrinsic::ByteSwap,
        "bitreverse" => Intrinsic::BitReverse,
        "fshl" => Intrinsic::FunnelShiftLeft,
        "fshr" => Intrinsic::FunnelShiftRight,
        "abs" => Intrinsic::Absolute,
        "smax" => Intrinsic::SignedMax,
        "smin" => Intrinsic::SignedMin,
        "umax" => Intrinsic::UnsignedMax,
        "umin" => Intrinsic::UnsignedMin,
        "scmp" => Intrinsic::SignedCompare,
        "ucmp" => Intrinsic::UnsignedCompare,
        "sadd.sat" => Intrinsic::SaturatingSignedAdd,
        "uadd.sat" => Intrinsic::SaturatingUnsignedAdd,
        "ssub.sat" => Intrinsic::SaturatingSignedSubtract,
        "usub.sat" => Intrinsic::SaturatingUnsignedSubtract,
        "sshl.sat" => Intrinsic::SaturatingSignedShiftLeft,
        "ushl.sat" => Intrinsic::SaturatingUnsignedShiftLeft,
        "sadd.with.overflow" => Intrinsic::SignedAddOverflow,
        "uadd.with.overflow" => Intrinsic::UnsignedAddOverflow,
        "ssub.with.overflow" => Intrinsic::SignedSubtractOverflow,
        "usub.with.overflow" => Intrinsic::UnsignedSubtractOverflow,
        "smul.with.overflow" => Intrinsic::SignedMultiplyOverflow,
        "umul.with.overflow" => Intrinsic::UnsignedMultiplyOverflow,
        "is.fpclass" => Intrinsic::IsFloatClass,
        "fptosi.sat" => Intrinsic::SaturatingFloatToSigned,
        "fptoui.sat" => Intrinsic::SaturatingFloatToUnsigned,
        "vector.reduce.add" => Intrinsic::ReduceAdd,
        "vector.reduce.mul" => Intrinsic::ReduceMultiply,
        "vector.reduce.and" => Intrinsic::ReduceAnd,
        "vector.reduce.or" => Intrinsic::ReduceOr,
        "vector.reduce.xor" => Intrinsic::ReduceXor,
        "vector.reduce.smax" => Intrinsic::ReduceSignedMax,
        "vector.reduce.smin" => Intrinsic::ReduceSignedMin,
        "vector.reduce.umax" => Intrinsic::ReduceUnsignedMax,
        "vector.reduce.umin" => Intrinsic::ReduceUnsignedMin,
        "vector.reduce.fadd" => Intrinsic::ReduceFloatAdd,
        "vector.reduce.fmul" => Intrinsic::ReduceFloatMultiply,
        "vector.reduce.fmax" => Intrinsic::ReduceFloatMax,
        "vector.reduce.fmin" => Intrinsic::ReduceFloatMin,
        "ptrmask" => Intrinsic::PointerMask,
        "objectsize" => Intrinsic::ObjectSize,
        "is.constant" => Intrinsic::IsConstant,
        _ => return float_by_name(name),
    })
}

/// Functions of floating-point numbers, which exist with a strict floating-point environment too.
fn float_by_name(name: &str) -> Option<Intrinsic> {
    Some(match name {
        "fabs" => Intrinsic::FloatAbsolute,
        "sqrt" => Intrinsic::SquareRoot,
        "floor" => Intrinsic::Floor,
        "ceil" => Intrinsic::Ceiling,
        "trunc" => Intrinsic::FloatTruncate,
        "round" => Intrinsic::Round,
        "rint" | "nearbyint" | "roundeven" => Intrinsic::RoundEven,
        "fma" => Intrinsic::FusedMultiplyAdd,
        "fmuladd" => Intrinsic::MultiplyAdd,
        "copysign" => Intrinsic::CopySign,
        "minnum" | "minimumnum" => Intrinsic::FloatMin,
        "maxnum" | "maximumnum" => Intrinsic::FloatMax,
        "minimum" => Intrinsic::FloatMinimum,
        "maximum" => Intrinsic::FloatMaximum,
        "pow" => Intrinsic::Power,
        "powi" => Intrinsic::PowerInteger,
        "sin" => Intrinsic::Sine,
        "cos" => Intrinsic::Cosine,
        "tan" => Intrinsic::Tangent,
        "exp" => Intrinsic::Exponential,
        "exp2" => Intrinsic::Exponential2,
        "log" => Intrinsic::Logarithm,
        "log2" => Intrinsic::Logarithm2,
        "log10" => Intrinsic::Logarithm10,
        "ldexp" => Intrinsic::LoadExponent,
        "lrint" | "llrint" => Intrinsic::RoundToInteger,
        "lround" | "llround" => Intrinsic::RoundHalfAwayToInteger,
        _ => return None,
    })
}

/// Operations with a strict floating-point environment. Programs that change the rounding mode are not modelled: the call that
/// changes it is an unknown function.
fn strict_by_name(name: &str) -> KnownIntrinsic {
    if let Some(intrinsic) = float_by_name(name) {
        return KnownIntrinsic::Pure(intrinsic);
    }
    match name {
        "fadd" => KnownIntrinsic::Binary(BinaryOp::FloatAdd),
        "fsub" => KnownIntrinsic::Binary(BinaryOp::FloatSubtract),
        "fmul" => KnownIntrinsic::Binary(BinaryOp::FloatMultiply),
        "fdiv" => KnownIntrinsic::Binary(BinaryOp::FloatDivide),
        "frem" => KnownIntrinsic::Binary(BinaryOp::FloatRemainder),
        "fptosi" => KnownIntrinsic::Cast(CastKind::FloatToSigned),
        "fptoui" => KnownIntrinsic::Cast(CastKind::FloatToUnsigned),
        "sitofp" => KnownIntrinsic::Cast(CastKind::SignedToFloat),
        "uitofp" => KnownIntrinsic::Cast(CastKind::UnsignedToFloat),
        "fptrunc" => KnownIntrinsic::Cast(CastKind::FloatTruncate),
        "fpext" => KnownIntrinsic::Cast(CastKind::FloatExtend),
        "fcmp" | "fcmps" => KnownIntrinsic::StrictCompare,
        "fneg" => KnownIntrinsic::Negate,
        _ => KnownIntrinsic::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strict_operations_are_the_plain_ones() {
        assert_eq!(by_name("experimental.constrained.fadd"), KnownIntrinsic::Binary(BinaryOp::FloatAdd));
        assert_eq!(by_name("experimental.constrained.sqrt"), KnownIntrinsic::Pure(Intrinsic::SquareRoot));
    }

    #[test]
    fn an_unheard_of_intrinsic_is_unknown() {
        assert_eq!(by_name("coro.begin"), KnownIntrinsic::Unknown);
    }
}
