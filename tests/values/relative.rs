//! Relative locks by brute force: accesses and locks computed from small numbers, in all ways that fit the objects. Two accesses whose
//! shapes agree, and that touch a common byte, must hold the same lock.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::random::Random;
use lockcheck::facts::{PointsTo, Shape, Values};
use lockcheck::models::Models;
use lockcheck::program::{Operand, RegisterId};

/// A number computed from `i`, 32 bits, or `j`, 64 bits: always of 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Index {
    I,
    UnsignedI,
    J,
    IPlus(i64),
    JPlus(i64),
    IModulo(i64),
    IUnsignedModulo(i64),
    IDividedBy(i64),
    IAnd(i64),
    JAnd(i64),
    JShifted(i64),
    ITimes(i64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Base {
    Data,
    Array,
    Locks,
    /// Any element of the array.
    P,
    /// The single object.
    Q,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Address {
    base: Base,
    constant: i64,
    parts: Vec<(i64, Index)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Case {
    access: Address,
    size: u64,
    lock: Address,
}

impl Index {
    /// Lines that compute it, after `register` registers.
    fn lines(self, next: &mut usize, out: &mut String) -> usize {
        let mut emit = |ty: &str, text: String| {
            writeln!(out, "  %{next}: {ty} = {text} !s0").expect("a string takes it");
            *next += 1;
            *next - 1
        };
        let narrow = |emit: &mut dyn FnMut(&str, String) -> usize, text: String| {
            let register = emit("i32", text);
            emit("i64", format!("cast sign_extend %{register}"))
        };
        match self {
            Index::I => emit("i64", "cast sign_extend %2".to_owned()),
            Index::UnsignedI => emit("i64", "cast zero_extend %2".to_owned()),
            Index::J => 3,
            Index::IPlus(by) => narrow(&mut emit, format!("add nsw %2, i32 {by}")),
            Index::JPlus(by) => emit("i64", format!("add %3, i64 {by}")),
            Index::IModulo(by) => narrow(&mut emit, format!("signed_remainder %2, i32 {by}")),
            Index::IUnsignedModulo(by) => narrow(&mut emit, format!("unsigned_remainder %2, i32 {by}")),
            Index::IDividedBy(by) => narrow(&mut emit, format!("signed_divide %2, i32 {by}")),
            Index::IAnd(mask) => narrow(&mut emit, format!("and %2, i32 {mask}")),
            Index::JAnd(mask) => emit("i64", format!("and %3, i64 {mask}")),
            Index::JShifted(by) => emit("i64", format!("logical_shift_right %3, i64 {by}")),
            Index::ITimes(by) => narrow(&mut emit, format!("multiply nsw %2, i32 {by}")),
        }
    }

    /// `None` where the compiler was promised that it does not happen.
    fn value(self, i: i32, j: i64) -> Option<i64> {
        let narrow = |value: Option<i32>| value.map(i64::from);
        match self {
            Index::I => Some(i.into()),
            Index::UnsignedI => Some((i as u32).into()),
            Index::J => Some(j),
            Index::IPlus(by) => narrow(i.checked_add(by as i32)),
            Index::JPlus(by) => Some(j.wrapping_add(by)),
            Index::IModulo(by) => narrow(i.checked_rem(by as i32)),
            Index::IUnsignedModulo(by) => Some(i64::from((i as u32 % by as u32) as i32)),
            Index::IDividedBy(by) => narrow(i.checked_div(by as i32)),
            Index::IAnd(mask) => Some((i & mask as i32).into()),
            Index::JAnd(mask) => Some(j & mask),
            Index::JShifted(by) => Some((j as u64 >> by) as i64),
            Index::ITimes(by) => narrow(i.checked_mul(by as i32)),
        }
    }
}

impl Base {
    fn word(self) -> &'static str {
        match self {
            Base::Data => "global @data",
            Base::Array => "global @array",
            Base::Locks => "global @locks",
            Base::P => "%0",
            Base::Q => "%1",
        }
    }

    /// Its address, and the object it lies in: from and to.
    fn address(self, element: i128) -> (i128, i128, i128) {
        match self {
            Base::Data => (1000, 1000, 1064),
            Base::Array => (2000, 2000, 2064),
            Base::Locks => (100_000, 100_000, 104_096),
            Base::P => (2000 + 16 * element, 2000, 2064),
            Base::Q => (3000, 3000, 3016),
        }
    }
}

impl Address {
    fn lines(&self, next: &mut usize, out: &mut String) -> usize {
        let mut terms = String::new();
        for (factor, index) in &self.parts {
            let register = index.lines(next, out);
            write!(terms, ", %{register} * {factor}").expect("a string takes it");
        }
        writeln!(out, "  %{next}: ptr = offset in_bounds {}, {}{terms} !s0", self.base.word(), self.constant)
            .expect("a string takes it");
        *next += 1;
        *next - 1
    }

    /// `None` outside the object.
    fn value(&self, size: u64, element: i128, i: i32, j: i64) -> Option<i128> {
        let (base, from, to) = self.base.address(element);
        let mut address = base + i128::from(self.constant);
        for (factor, index) in &self.parts {
            address += i128::from(*factor) * i128::from(index.value(i, j)?);
        }
        (address >= from && address + i128::from(size) <= to).then_some(address)
    }
}

/// The locks that are held when each byte is accessed, over all small values.
fn locks_by_byte(case: &Case) -> BTreeMap<i128, BTreeSet<i128>> {
    let mut found: BTreeMap<i128, BTreeSet<i128>> = BTreeMap::new();
    for element in 0..4 {
        for i in (-6..20).chain([i32::MIN, i32::MAX - 1]) {
            for j in (-3..18).chain([1 << 32, (1 << 32) + 1, 1 << 61]) {
                let access = case.access.value(case.size, element, i, j);
                let lock = case.lock.value(1, element, i, j);
                if let (Some(access), Some(lock)) = (access, lock) {
                    for byte in access..access + i128::from(case.size) {
                        found.entry(byte).or_default().insert(lock);
                    }
                }
            }
        }
    }
    found
}

/// The shapes of the cases, each a function of one program.
fn shapes(cases: &[Case]) -> Vec<Option<Shape>> {
    with_shapes(cases, |_, shapes| shapes)
}

fn with_shapes<R>(cases: &[Case], then: impl FnOnce(&Values<'_>, Vec<Option<Shape>>) -> R) -> R {
    let mut body = String::from(
        "global @data \"data\" size 64 align 8 = -\nglobal @array \"array\" size 64 align 8 = -\n\
         global @locks \"locks\" size 4096 align 8 = -\nglobal @single \"single\" size 16 align 8 = -\nglobal @n \"n\" size 8 align 8 = -\n",
    );
    let mut places = Vec::new();
    for (number, case) in cases.iter().enumerate() {
        writeln!(body, "function @f{number} \"f{number}\" (%0: ptr, %1: ptr, %2: i32, %3: i64) returns void {{\nb0:")
            .expect("a string takes it");
        let mut next = 4;
        let lock = case.lock.lines(&mut next, &mut body);
        let access = case.access.lines(&mut next, &mut body);
        places.push((access, lock));
        body.push_str("  return !s0\n}\n");
    }
    body.push_str("function @main \"main\" () returns i32 {\nb0:\n  %0: i32 = load global @n align 4 !s0\n  %1: i64 = load global @n align 8 !s1\n");
    body.push_str("  %2: ptr = offset in_bounds global @array, 0, %1 * 16 !s1\n");
    for number in 0..cases.len() {
        writeln!(body, "  call @f{number}(%2, global @single, %0, %1) !s2").expect("a string takes it");
    }
    body.push_str("  return i32 0 !s3\n}\n");
    let program = super::program(&body);
    let models = Models::embedded();
    let bound = models.bind(&program);
    let points_to = PointsTo::of(&program, &bound);
    let values = Values::of(&program, &bound);
    let of = |(number, case): (usize, &Case)| {
        let function = program.function_named(&format!("f{number}")).expect("it was written");
        let term = |register: usize| values.term(function, Operand::Register(RegisterId::from(register)));
        values.shape(&points_to, function, term(places[number].0), Some(case.size), term(places[number].1))
    };
    let shapes = cases.iter().enumerate().map(of).collect();
    then(&values, shapes)
}

fn at(base: Base, constant: i64, parts: &[(i64, Index)]) -> Address {
    Address { base, constant, parts: parts.to_vec() }
}

#[test]
fn locks_that_are_functions_of_the_accessed_bytes_have_a_shape() {
    use Base::{Array, Data, Locks, P, Q};
    let case = |access: Address, size: u64, lock: Address| Case { access, size, lock };
    let protected = [
        case(at(Data, 0, &[(4, Index::I)]), 4, at(Locks, 0, &[(40, Index::I)])),
        case(at(Data, 0, &[(4, Index::J)]), 4, at(Locks, 0, &[(40, Index::J)])),
        case(at(Data, 0, &[(4, Index::I)]), 4, at(Locks, 0, &[(40, Index::IModulo(4))])),
        case(at(Data, 0, &[(4, Index::I)]), 4, at(Locks, 0, &[(40, Index::IUnsignedModulo(4))])),
        case(at(Data, 0, &[(4, Index::I)]), 4, at(Locks, 0, &[(40, Index::IDividedBy(2))])),
        case(at(Data, 0, &[(4, Index::IPlus(1))]), 4, at(Locks, 0, &[(40, Index::I)])),
        case(at(Data, 0, &[(4, Index::UnsignedI)]), 4, at(Locks, 0, &[(40, Index::I)])),
        case(at(P, 8, &[]), 4, at(P, 0, &[])),
        case(at(Q, 8, &[]), 4, at(Q, 0, &[])),
        case(at(Q, 0, &[(1, Index::J)]), 1, at(Q, 0, &[])),
        case(at(Array, 8, &[(16, Index::I)]), 4, at(Array, 0, &[(16, Index::I)])),
        case(at(Array, 12, &[(16, Index::I)]), 4, at(Locks, 0, &[(40, Index::I)])),
        case(at(P, 0, &[(4, Index::IAnd(3))]), 4, at(P, 0, &[])),
        case(at(Data, 0, &[(16, Index::J), (4, Index::IAnd(3))]), 4, at(Locks, 0, &[(40, Index::J)])),
        case(at(Data, 0, &[(16, Index::J), (4, Index::IAnd(3))]), 4, at(Locks, 0, &[(160, Index::J), (40, Index::IAnd(3))])),
        case(at(Data, 0, &[(1, Index::IDividedBy(8))]), 1, at(Locks, 0, &[(40, Index::IDividedBy(8))])),
    ];
    for (case, shape) in protected.iter().zip(shapes(&protected)) {
        assert!(locks_by_byte(case).values().all(|locks| locks.len() == 1), "the test is wrong about {case:?}");
        assert!(shape.is_some(), "no shape for {case:?}");
    }
    let open = [
        // bits[i/8] under locks[i].
        case(at(Data, 0, &[(1, Index::IDividedBy(8))]), 1, at(Locks, 0, &[(40, Index::I)])),
        case(at(Data, 0, &[(4, Index::J)]), 4, at(Locks, 0, &[(40, Index::I)])),
        case(at(Data, 0, &[(4, Index::I)]), 8, at(Locks, 0, &[(40, Index::I)])),
        case(at(Data, 0, &[(4, Index::IAnd(3))]), 4, at(Locks, 0, &[(40, Index::I)])),
        case(at(P, 0, &[(4, Index::J)]), 4, at(P, 0, &[])),
        case(at(P, 8, &[]), 20, at(P, 0, &[])),
        case(at(Data, 0, &[(16, Index::J), (4, Index::I)]), 4, at(Locks, 0, &[(40, Index::J)])),
        case(at(Data, 0, &[]), 4, at(Locks, 0, &[(40, Index::I)])),
    ];
    for (case, shape) in open.iter().zip(shapes(&open)) {
        assert!(locks_by_byte(case).values().any(|locks| locks.len() > 1), "the test is wrong about {case:?}");
        assert!(shape.is_none(), "a shape for {case:?}: {shape:?}");
    }
}

#[test]
fn accesses_of_one_object_in_different_ways_agree() {
    use Base::{Array, Data, Locks, P};
    let cases = [
        Case { access: at(P, 8, &[]), size: 4, lock: at(P, 0, &[]) },
        Case { access: at(Array, 8, &[(16, Index::I)]), size: 4, lock: at(Array, 0, &[(16, Index::I)]) },
        Case { access: at(Array, 4, &[(16, Index::JPlus(1))]), size: 8, lock: at(Array, 16, &[(16, Index::J)]) },
        Case { access: at(Array, 8, &[(16, Index::I)]), size: 4, lock: at(Array, 4, &[(16, Index::I)]) },
        Case { access: at(Data, 0, &[(4, Index::I)]), size: 4, lock: at(Locks, 0, &[(40, Index::I)]) },
        Case { access: at(Data, 4, &[(4, Index::J)]), size: 4, lock: at(Locks, 40, &[(40, Index::J)]) },
        Case { access: at(Array, 40, &[]), size: 4, lock: at(Array, 32, &[]) },
        Case { access: at(Array, 40, &[]), size: 4, lock: at(Array, 16, &[]) },
        Case { access: at(Data, 12, &[]), size: 4, lock: at(Locks, 120, &[]) },
        Case { access: at(Data, 12, &[]), size: 4, lock: at(Locks, 80, &[]) },
    ];
    with_shapes(&cases, |values, shapes| {
        let shapes: Vec<Shape> = shapes.into_iter().map(|shape| shape.expect("a lock that depends on the access")).collect();
        let agree = |one: usize, other: usize| values.agree(&shapes[one], &shapes[other]);
        assert!(agree(0, 1) && agree(1, 2) && agree(4, 5));
        assert!(!agree(0, 3), "another lock of the element");
        assert!(!agree(0, 4), "no common object");
        assert!(agree(6, 1) && agree(1, 6) && agree(6, 0) && agree(6, 2), "element 2 is one of the elements");
        assert!(!agree(7, 1) && !agree(1, 7), "the lock of element 1 at element 2");
        assert!(agree(8, 4) && !agree(9, 4), "data[3] under locks[3], and under locks[2]");
    });
}

/// A pointer to one of two places in an object: which one, the accessed byte must tell.
#[test]
fn a_base_at_two_places_is_not_taken_for_either() {
    let body = r#"
global @array "array" size 64 align 8 = -
function @through "through" (%0: ptr) returns void {
b0:
  %1: ptr = offset in_bounds %0, 8 !s0
  return !s0
}
function @direct "direct" () returns void {
b0:
  %0: ptr = offset in_bounds global @array, 28 !s0
  %1: ptr = offset in_bounds global @array, 20 !s0
  return !s0
}
function @main "main" () returns i32 {
b0:
  call @through(global @array) !s0
  %0: ptr = offset in_bounds global @array, 20 !s1
  call @through(%0) !s1
  call @direct() !s2
  return i32 0 !s3
}"#;
    let program = super::program(body);
    let models = Models::embedded();
    let bound = models.bind(&program);
    let points_to = PointsTo::of(&program, &bound);
    let values = Values::of(&program, &bound);
    let shape = |function: &str, access: usize, lock: Option<usize>| {
        let function = program.function_named(function).expect("it was written");
        let term = |register: usize| values.term(function, Operand::Register(RegisterId::from(register)));
        let array = || values.substitute(values.plus(term(access), -28), &|_| None).expect("a constant");
        values
            .shape(&points_to, function, term(access), Some(4), lock.map_or_else(array, term))
            .expect("a lock that depends on the access")
    };
    let through = shape("through", 1, Some(0));
    // Byte 28 is under the lock at 20 when it is reached through the pointer, and under the one at 0 here.
    assert!(!values.agree(&through, &shape("direct", 0, None)));
    assert!(values.agree(&through, &through));
}

fn random_index(random: &mut Random) -> Index {
    let small = random.between(1, 8);
    *random.pick(&[
        Index::I,
        Index::I,
        Index::J,
        Index::UnsignedI,
        Index::IPlus(small - 3),
        Index::JPlus(small - 3),
        Index::IModulo(small),
        Index::IUnsignedModulo(small),
        Index::IDividedBy(small),
        Index::IAnd(small),
        Index::JAnd(small),
        Index::JShifted(small % 3 + 1),
        Index::ITimes(small),
    ])
}

fn random_case(random: &mut Random) -> Case {
    let index = random_index(random);
    // Mostly the lock and the access speak of the same number.
    let other = if random.chance(70) { index } else { random_index(random) };
    let size = *random.pick(&[1, 2, 4, 8]);
    let base = *random.pick(&[Base::Data, Base::Array, Base::P, Base::Q]);
    let mut access = at(base, *random.pick(&[0, 0, 4, 8, 2, -4, 12]), &[]);
    if random.chance(75) {
        access.parts.push((*random.pick(&[4, 8, 16, 1, 2]), index));
    }
    if random.chance(25) {
        access.parts.push((*random.pick(&[4, 1, 2]), random_index(random)));
    }
    let lock_base = if random.chance(50) { base } else { Base::Locks };
    let mut lock = at(lock_base, *random.pick(&[0, 0, 4, 40]), &[]);
    if random.chance(60) {
        lock.parts.push((*random.pick(&[40, 16, 4]), other));
    }
    Case { access, size, lock }
}

#[test]
fn common_bytes_under_agreeing_shapes_are_under_one_lock() {
    let (mut found, mut protected, mut agreeing) = (0, 0, 0);
    for seed in 0..6 {
        let mut random = Random::new(seed);
        let cases: Vec<Case> = (0..250).map(|_| random_case(&mut random)).collect();
        with_shapes(&cases, |values, shapes| {
            let locks: Vec<BTreeMap<i128, BTreeSet<i128>>> = cases.iter().map(locks_by_byte).collect();
            for (number, shape) in shapes.iter().enumerate() {
                protected += usize::from(locks[number].values().all(|held| held.len() == 1));
                let Some(shape) = shape else { continue };
                found += 1;
                for (other_number, other) in shapes.iter().enumerate() {
                    if !other.as_ref().is_some_and(|other| values.agree(shape, other)) {
                        continue;
                    }
                    agreeing += usize::from(other_number != number);
                    for (byte, held) in &locks[number] {
                        let together: BTreeSet<&i128> =
                            held.iter().chain(locks[other_number].get(byte).into_iter().flatten()).collect();
                        let pair = (&cases[number], &cases[other_number]);
                        assert!(
                            !locks[other_number].contains_key(byte) || together.len() == 1,
                            "byte {byte} under {together:?}: {pair:?}"
                        );
                    }
                }
            }
        });
    }
    println!("{found} shapes for {protected} cases that small values show protected; {agreeing} pairs that agree");
    assert!(found > 300 && agreeing > 500, "{found} shapes, {agreeing} pairs");
}
