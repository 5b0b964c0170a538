//! The words of the text form for each closed set: operators, predicates, orderings, intrinsics.

use crate::program::{
    BinaryOp, CastKind, FloatPredicate, IntegerPredicate, Intrinsic, Ordering, ReadModifyWriteOp, Scalar, Type,
};

/// A closed set with a word for each member.
pub trait Word: Copy + PartialEq + 'static {
    const WORDS: &'static [(Self, &'static str)];

    fn word(self) -> &'static str {
        let found = Self::WORDS.iter().find(|(member, _)| *member == self);
        found.map(|(_, word)| *word).expect("every member has a word")
    }

    fn from_word(word: &str) -> Option<Self> {
        Self::WORDS.iter().find(|(_, known)| *known == word).map(|(member, _)| *member)
    }
}

macro_rules! words {
    ($set:ident { $($member:ident $word:literal),* $(,)? }) => {
        impl Word for $set {
            const WORDS: &'static [(Self, &'static str)] = &[$(($set::$member, $word)),*];
        }

        // A member without a word does not compile.
        const _: fn($set) = |member| match member { $($set::$member => {})* };
    };
}

words!(BinaryOp {
    Add "add", Subtract "subtract", Multiply "multiply", UnsignedDivide "unsigned_divide", SignedDivide "signed_divide",
    UnsignedRemainder "unsigned_remainder", SignedRemainder "signed_remainder", ShiftLeft "shift_left",
    LogicalShiftRight "logical_shift_right", ArithmeticShiftRight "arithmetic_shift_right", And "and", Or "or", Xor "xor",
    FloatAdd "float_add", FloatSubtract "float_subtract", FloatMultiply "float_multiply", FloatDivide "float_divide",
    FloatRemainder "float_remainder",
});

words!(IntegerPredicate {
    Equal "equal", NotEqual "not_equal", UnsignedGreater "unsigned_greater", UnsignedGreaterEqual "unsigned_greater_equal",
    UnsignedLess "unsigned_less", UnsignedLessEqual "unsigned_less_equal", SignedGreater "signed_greater",
    SignedGreaterEqual "signed_greater_equal", SignedLess "signed_less", SignedLessEqual "signed_less_equal",
});

words!(CastKind {
    Truncate "truncate", ZeroExtend "zero_extend", SignExtend "sign_extend", FloatTruncate "float_truncate",
    FloatExtend "float_extend", FloatToUnsigned "float_to_unsigned", FloatToSigned "float_to_signed",
    UnsignedToFloat "unsigned_to_float", SignedToFloat "signed_to_float", PointerToInteger "pointer_to_integer",
    IntegerToPointer "integer_to_pointer", Bitcast "bitcast",
});

words!(ReadModifyWriteOp {
    Exchange "exchange", Add "add", Subtract "subtract", And "and", Nand "nand", Or "or", Xor "xor", SignedMax "signed_max",
    SignedMin "signed_min", UnsignedMax "unsigned_max", UnsignedMin "unsigned_min", FloatAdd "float_add",
    FloatSubtract "float_subtract", FloatMax "float_max", FloatMin "float_min", IncrementWrap "increment_wrap",
    DecrementWrap "decrement_wrap", ConditionalSubtract "conditional_subtract", SaturatingSubtract "saturating_subtract",
});

words!(Ordering {
    Unordered "unordered", Relaxed "relaxed", Acquire "acquire", Release "release", AcquireRelease "acquire_release",
    SequentiallyConsistent "sequentially_consistent",
});

words!(Intrinsic {
    CountOnes "count_ones", LeadingZeros "leading_zeros", TrailingZeros "trailing_zeros", ByteSwap "byte_swap",
    BitReverse "bit_reverse", FunnelShiftLeft "funnel_shift_left", FunnelShiftRight "funnel_shift_right", Absolute "absolute",
    SignedMax "signed_max", SignedMin "signed_min", UnsignedMax "unsigned_max", UnsignedMin "unsigned_min",
    SignedCompare "signed_compare", UnsignedCompare "unsigned_compare", SaturatingSignedAdd "saturating_signed_add",
    SaturatingUnsignedAdd "saturating_unsigned_add", SaturatingSignedSubtract "saturating_signed_subtract",
    SaturatingUnsignedSubtract "saturating_unsigned_subtract", SaturatingSignedShiftLeft "saturating_signed_shift_left",
    SaturatingUnsignedShiftLeft "saturating_unsigned_shift_left", SignedAddOverflow "signed_add_overflow",
    UnsignedAddOverflow "unsigned_add_overflow", SignedSubtractOverflow "signed_subtract_overflow",
    UnsignedSubtractOverflow "unsigned_subtract_overflow", SignedMultiplyOverflow "signed_multiply_overflow",
    UnsignedMultiplyOverflow "unsigned_multiply_overflow", FloatAbsolute "float_absolute", SquareRoot "square_root", Floor "floor",
    Ceiling "ceiling", FloatTruncate "float_truncate", Round "round", RoundEven "round_even",
    FusedMultiplyAdd "fused_multiply_add", MultiplyAdd "multiply_add", CopySign "copy_sign", FloatMin "float_min",
    FloatMax "float_max", FloatMinimum "float_minimum", FloatMaximum "float_maximum", Power "power",
    PowerInteger "power_integer", Sine "sine", Cosine "cosine", Tangent "tangent", Exponential "exponential",
    Exponential2 "exponential_2", Logarithm "logarithm", Logarithm2 "logarithm_2", Logarithm10 "logarithm_10",
    LoadExponent "load_exponent", IsFloatClass "is_float_class", RoundToInteger "round_to_integer",
    RoundHalfAwayToInteger "round_half_away_to_integer", SaturatingFloatToSigned "saturating_float_to_signed",
    SaturatingFloatToUnsigned "saturating_float_to_unsigned", ReduceAdd "reduce_add", ReduceMultiply "reduce_multiply",
    ReduceAnd "reduce_and", ReduceOr "reduce_or", ReduceXor "reduce_xor", ReduceSignedMax "reduce_signed_max",
    ReduceSignedMin "reduce_signed_min", ReduceUnsignedMax "reduce_unsigned_max", ReduceUnsignedMin "reduce_unsigned_min",
    ReduceFloatAdd "reduce_float_add", ReduceFloatMultiply "reduce_float_multiply", ReduceFloatMax "reduce_float_max",
    ReduceFloatMin "reduce_float_min", PointerMask "pointer_mask", ObjectSize "object_size", IsConstant "is_constant",
    SignMask "sign_mask",
});

/// The letters of the relations that make the predicate true: equal, greater, less, unordered; `-` for none.
pub fn float_predicate(predicate: FloatPredicate) -> String {
    let FloatPredicate { equal, greater, less, unordered } = predicate;
    let letters: String = [(equal, 'e'), (greater, 'g'), (less, 'l'), (unordered, 'u')]
        .iter()
        .filter(|(is, _)| *is)
        .map(|(_, letter)| *letter)
        .collect();
    if letters.is_empty() { "-".to_owned() } else { letters }
}

pub fn parse_float_predicate(word: &str) -> Option<FloatPredicate> {
    let known = word == "-" || (!word.is_empty() && word.chars().all(|letter| "eglu".contains(letter)));
    let has = |letter| word.contains(letter);
    known.then(|| FloatPredicate { equal: has('e'), greater: has('g'), less: has('l'), unordered: has('u') })
}

pub fn scalar(scalar: Scalar) -> String {
    match scalar {
        Scalar::Integer(bits) => format!("i{bits}"),
        Scalar::Half => "half".to_owned(),
        Scalar::BFloat => "bfloat".to_owned(),
        Scalar::Float => "float".to_owned(),
        Scalar::Double => "double".to_owned(),
        Scalar::X86Fp80 => "x86_fp80".to_owned(),
        Scalar::Fp128 => "fp128".to_owned(),
        Scalar::Pointer => "ptr".to_owned(),
    }
}

pub fn parse_scalar(word: &str) -> Option<Scalar> {
    Some(match word {
        "half" => Scalar::Half,
        "bfloat" => Scalar::BFloat,
        "float" => Scalar::Float,
        "double" => Scalar::Double,
        "x86_fp80" => Scalar::X86Fp80,
        "fp128" => Scalar::Fp128,
        "ptr" => Scalar::Pointer,
        _ => Scalar::Integer(word.strip_prefix('i')?.parse().ok().filter(|bits| *bits > 0)?),
    })
}

/// `void`, a scalar, `<4 x i32>` or `bytes(16)`.
pub fn type_word(ty: Type) -> String {
    match ty {
        Type::Void => "void".to_owned(),
        Type::Scalar(element) => scalar(element),
        Type::Vector { lanes, element } => format!("<{lanes} x {}>", scalar(element)),
        Type::Aggregate { size } => format!("bytes({size})"),
    }
}
