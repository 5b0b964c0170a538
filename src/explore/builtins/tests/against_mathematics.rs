//! `<math.h>` here and in the C library, bit for bit.

use super::Numbers;
use super::world::{World, at, double, int};
use crate::explore::environment::Environment;
use crate::explore::value::{ScalarValue, Value};
use crate::program::Scalar;

unsafe extern "C" {
    safe fn fmod(x: f64, y: f64) -> f64;
    safe fn remainder(x: f64, y: f64) -> f64;
    safe fn fdim(x: f64, y: f64) -> f64;
    safe fn fma(x: f64, y: f64, z: f64) -> f64;
    safe fn nextafter(x: f64, y: f64) -> f64;
    safe fn rint(x: f64) -> f64;
    safe fn round(x: f64) -> f64;
    safe fn floor(x: f64) -> f64;
    safe fn ceil(x: f64) -> f64;
    safe fn trunc(x: f64) -> f64;
    safe fn logb(x: f64) -> f64;
    safe fn ilogb(x: f64) -> i32;
    safe fn ldexp(x: f64, exponent: i32) -> f64;
    safe fn lround(x: f64) -> i64;
    safe fn lrint(x: f64) -> i64;
    fn frexp(x: f64, exponent: *mut i32) -> f64;
    fn modf(x: f64, whole: *mut f64) -> f64;
}

/// The sign of a NaN that was computed is nobody's promise, and glibc loses the sign of a `remainder` that is 0.
fn same(actual: u128, expected: f64, what: &str) {
    let actual = f64::from_bits(actual as u64);
    let agrees = actual.to_bits() == expected.to_bits()
        || (actual.is_nan() && expected.is_nan())
        || (what.starts_with("remainder") && actual == 0.0 && expected == 0.0);
    assert!(agrees, "{what}: {actual:e} and {expected:e}");
}

#[test]
fn exact_functions_agree() {
    let mut numbers = Numbers::new(10);
    type Unary = extern "C" fn(f64) -> f64;
    type Binary = extern "C" fn(f64, f64) -> f64;
    let unary: [(&str, Unary); 6] =
        [("rint", rint), ("round", round), ("floor", floor), ("ceil", ceil), ("trunc", trunc), ("logb", logb)];
    let binary: [(&str, Binary); 4] = [("fmod", fmod), ("remainder", remainder), ("fdim", fdim), ("nextafter", nextafter)];
    let mut world = World::new(8);
    let place = world.object(&[0; 8]);
    for _ in 0..20_000 {
        let (x, y, z) = (numbers.double(), numbers.double(), numbers.double());
        for (name, native) in unary {
            same(world.real(name, &[double(x)], Scalar::Double), native(x), &format!("{name}({x:e})"));
        }
        for (name, native) in binary {
            same(world.real(name, &[double(x), double(y)], Scalar::Double), native(x, y), &format!("{name}({x:e}, {y:e})"));
        }
        same(
            world.real("fma", &[double(x), double(y), double(z)], Scalar::Double),
            fma(x, y, z),
            &format!("fma({x:e}, {y:e}, {z:e})"),
        );
        let exponent = numbers.below(4400) as i32 - 2200;
        same(
            world.real("ldexp", &[double(x), int(exponent)], Scalar::Double),
            ldexp(x, exponent),
            &format!("ldexp({x:e}, {exponent})"),
        );
        assert_eq!(world.integer("ilogb", &[double(x)], 32), i128::from(ilogb(x)), "ilogb({x:e})");
        assert_eq!(world.integer("lround", &[double(x)], 64), i128::from(lround(x)), "lround({x:e})");
        assert_eq!(world.integer("lrint", &[double(x)], 64), i128::from(lrint(x)), "lrint({x:e})");
        let (mut native_exponent, mut native_whole) = (0, 0.0);
        // SAFETY: places for the second results.
        let (fraction, rest) = unsafe { (frexp(x, &mut native_exponent), modf(x, &mut native_whole)) };
        same(world.real("frexp", &[double(x), at(place)], Scalar::Double), fraction, &format!("frexp({x:e})"));
        if x.is_finite() {
            assert_eq!(world.peek(place, 4).expect("an int"), native_exponent.to_le_bytes(), "frexp({x:e})");
        }
        same(world.real("modf", &[double(x), at(place)], Scalar::Double), rest, &format!("modf({x:e})"));
        let whole = u64::from_le_bytes(world.peek(place, 8).expect("a double")[..8].try_into().expect("8 bytes"));
        same(whole.into(), native_whole, &format!("modf({x:e})"));
    }
}

#[test]
fn the_library_computes_the_rest() {
    let mut world = World::new(8);
    for x in [0.0, 0.5, 1.0, -0.25, 3.75, 100.0] {
        same(world.real("sin", &[double(x)], Scalar::Double), x.sin(), "sin");
        same(world.real("exp", &[double(x)], Scalar::Double), x.exp(), "exp");
        same(world.real("pow", &[double(x), double(1.5)], Scalar::Double), x.powf(1.5), "pow");
        let single = Value::Scalar(ScalarValue::Float { kind: Scalar::Float, bits: (x as f32).to_bits().into() });
        assert_eq!(world.real("cos", &[single], Scalar::Float) as u32, (x as f32).cos().to_bits(), "cosf");
    }
    assert_eq!(world.errno_value(), libc::EDOM, "pow of a negative number");
}

/// √2 to 64 bits, and exact squares.
#[test]
fn the_root_of_an_extended_number() {
    let mut world = World::new(8);
    let extended = |bits: u128| Value::Scalar(ScalarValue::Float { kind: Scalar::X86Fp80, bits });
    let two = 0x4000_8000_0000_0000_0000;
    assert_eq!(world.real("sqrt", &[extended(two)], Scalar::X86Fp80), 0x3fff_b504_f333_f9de_6484);
    let four = 0x4001_8000_0000_0000_0000;
    assert_eq!(world.real("sqrt", &[extended(four)], Scalar::X86Fp80), two);
    let nine = 0x4002_9000_0000_0000_0000;
    assert_eq!(world.real("sqrt", &[extended(nine)], Scalar::X86Fp80), 0x4000_c000_0000_0000_0000);
}
