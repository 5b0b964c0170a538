//! `strtol`, `strtod` and their kin here and in the C library, on the same random texts.

use std::ffi::CString;

use super::Numbers;
use super::world::{World, at, int};
use crate::explore::environment::Environment;
use crate::explore::value::Pointer;
use crate::program::Scalar;

fn reset_errno() {
    // SAFETY: the location is the calling thread's own.
    unsafe { *libc::__errno_location() = 0 };
}

fn native_errno() -> i32 {
    // SAFETY: as above.
    unsafe { *libc::__errno_location() }
}

fn end_offset(world: &mut World, place: Pointer, start: Pointer) -> u64 {
    u64::from_le_bytes(world.peek(place, 8).expect("the end")[..8].try_into().expect("8 bytes")) - start.address
}

fn integer_text(numbers: &mut Numbers) -> String {
    let space = numbers.pick(&["", "", " ", "\t\n "]);
    let sign = numbers.pick(&["", "", "-", "+", "--"]);
    let prefix = numbers.pick(&["", "", "0x", "0X", "0", "0b"]);
    let digits: String = (0..numbers.below(22)).map(|_| numbers.pick(b"01794fAz") as char).collect();
    let decimal: String = (0..numbers.below(22)).map(|_| numbers.pick(b"0123456789") as char).collect();
    let tail = numbers.pick(&["", "x", " 5", "."]);
    format!("{space}{sign}{prefix}{}{tail}", if numbers.below(2) == 0 { digits } else { decimal })
}

#[test]
fn integers() {
    let mut numbers = Numbers::new(4);
    for _ in 0..40_000 {
        let mut world = World::new(8);
        let text = integer_text(&mut numbers);
        let base = numbers.pick(&[0, 10, 16, 8, 2, 36, 37, 1]);
        let native = CString::new(text.clone()).expect("no zero byte");
        let start = world.string(text.as_bytes());
        let place = world.object(&[0; 8]);
        for (name, is_signed) in [("strtol", true), ("strtoull", false)] {
            let mut end = std::ptr::null_mut();
            reset_errno();
            // SAFETY: a terminated string and a place for the end.
            let expected = unsafe {
                if is_signed {
                    libc::strtoll(native.as_ptr(), &mut end, base)
                } else {
                    libc::strtoull(native.as_ptr(), &mut end, base) as i64
                }
            };
            let expected_errno = native_errno();
            let errno = world.errno();
            world.write(errno, &[0; 4]).expect("errno");
            let actual = world.integer(name, &[at(start), at(place), int(base)], 64);
            assert_eq!(actual as i64, expected, "{name} of {text:?} in base {base}");
            assert_eq!(world.errno_value(), expected_errno, "errno of {name} of {text:?} in base {base}");
            if expected_errno != libc::EINVAL {
                assert_eq!(
                    end_offset(&mut world, place, start),
                    end as u64 - native.as_ptr() as u64,
                    "{name} of {text:?} in base {base}"
                );
            }
        }
        // SAFETY: a terminated string.
        assert_eq!(world.integer("atoi", &[at(start)], 32) as i32, unsafe { libc::atoi(native.as_ptr()) }, "atoi of {text:?}");
    }
}

fn real_text(numbers: &mut Numbers) -> String {
    let sign = numbers.pick(&["", "-", "+", " "]);
    let body = match numbers.below(6) {
        0 => {
            let words =
                ["inf", "INFINITY", "infin", "nan", "nan(12)", "nan(x", "NaN(0x7)", "i", "na", ".", "e5", "0x", "0x.p1", ""];
            numbers.pick(&words).to_owned()
        }
        1 => format!("{:e}", f64::from_bits(numbers.next())),
        2 => format!("0x{:x}.{:x}p{}", numbers.next() >> numbers.below(64), numbers.next(), numbers.below(2300) as i32 - 1150),
        3 => format!("{}.{:019}", numbers.integer(), numbers.next()),
        4 => format!("{}e{}", numbers.integer(), numbers.below(700) as i32 - 350),
        _ => format!("{}", numbers.double()),
    };
    format!("{sign}{body}{}", numbers.pick(&["", "", "e", "e+", "p", "x1", "."]))
}

#[test]
fn reals() {
    let mut numbers = Numbers::new(5);
    for _ in 0..40_000 {
        let mut world = World::new(8);
        let text = real_text(&mut numbers);
        let native = CString::new(text.clone()).expect("no zero byte");
        let start = world.string(text.as_bytes());
        let place = world.object(&[0; 8]);
        let mut end = std::ptr::null_mut();
        reset_errno();
        // SAFETY: a terminated string and a place for the end.
        let expected = unsafe { libc::strtod(native.as_ptr(), &mut end) };
        let expected_errno = native_errno();
        let actual = world.real("strtod", &[at(start), at(place)], Scalar::Double);
        assert_eq!(actual as u64, expected.to_bits(), "strtod of {text:?}");
        assert_eq!(world.errno_value(), expected_errno, "errno of strtod of {text:?}");
        assert_eq!(end_offset(&mut world, place, start), end as u64 - native.as_ptr() as u64, "strtod of {text:?}");
        // SAFETY: as above.
        let expected = unsafe { libc::strtof(native.as_ptr(), &mut end) };
        let actual = world.real("strtof", &[at(start), at(place)], Scalar::Float);
        assert_eq!(actual as u32, expected.to_bits(), "strtof of {text:?}");
    }
}
