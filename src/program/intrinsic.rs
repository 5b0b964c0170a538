//! Pure functions that compilers know: a value in, a value out, no memory.

/// Lane by lane on vectors, unless it reduces one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Intrinsic {
    CountOnes,
    /// Second argument: zero is poison.
    LeadingZeros,
    TrailingZeros,
    ByteSwap,
    BitReverse,
    FunnelShiftLeft,
    FunnelShiftRight,
    /// Second argument: the minimum is poison.
    Absolute,
    SignedMax,
    SignedMin,
    UnsignedMax,
    UnsignedMin,
    /// -1, 0 or 1.
    SignedCompare,
    UnsignedCompare,
    SaturatingSignedAdd,
    SaturatingUnsignedAdd,
    SaturatingSignedSubtract,
    SaturatingUnsignedSubtract,
    SaturatingSignedShiftLeft,
    SaturatingUnsignedShiftLeft,
    /// The result is an aggregate: the wrapped value at offset 0, the overflow bit in the first byte after its storage
    /// that is aligned for it (the size of the value rounded up to a power of two).
    SignedAddOverflow,
    UnsignedAddOverflow,
    SignedSubtractOverflow,
    UnsignedSubtractOverflow,
    SignedMultiplyOverflow,
    UnsignedMultiplyOverflow,

    FloatAbsolute,
    SquareRoot,
    Floor,
    Ceiling,
    FloatTruncate,
    /// To the nearest, halves away from zero.
    Round,
    /// To the nearest, halves to even (`rint`, `nearbyint`, `roundeven`).
    RoundEven,
    FusedMultiplyAdd,
    /// May be computed with one rounding or two.
    MultiplyAdd,
    CopySign,
    /// The other operand when one is a NaN.
    FloatMin,
    FloatMax,
    /// A NaN when one operand is.
    FloatMinimum,
    FloatMaximum,
    Power,
    PowerInteger,
    Sine,
    Cosine,
    Tangent,
    Exponential,
    Exponential2,
    Logarithm,
    Logarithm2,
    Logarithm10,
    LoadExponent,
    /// Second argument: the mask of classes.
    IsFloatClass,
    /// Rounded to an integer in the current mode (`lrint`) or halves away from zero (`lround`).
    RoundToInteger,
    RoundHalfAwayToInteger,
    SaturatingFloatToSigned,
    SaturatingFloatToUnsigned,

    ReduceAdd,
    ReduceMultiply,
    ReduceAnd,
    ReduceOr,
    ReduceXor,
    ReduceSignedMax,
    ReduceSignedMin,
    ReduceUnsignedMax,
    ReduceUnsignedMin,
    /// First argument: the start value; in order of the lanes.
    ReduceFloatAdd,
    ReduceFloatMultiply,
    ReduceFloatMax,
    ReduceFloatMin,

    /// The low bits of a pointer by a mask (`llvm.ptrmask`).
    PointerMask,
    /// Arguments: a pointer, whether unknown means 0, whether null is unknown, whether dynamic.
    ObjectSize,
    /// Whether the argument is a compile-time constant: false when it is still asked.
    IsConstant,
    /// The top bit of each of the lanes, as an integer (`pmovmskb`, `movmskps`, `movmskpd`).
    SignMask,
}
