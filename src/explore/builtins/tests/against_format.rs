//! `snprintf` here and in the C library, on the same random formats and values.

use std::ffi::CString;

use super::Numbers;
use super::world::{World, at, double, int, long};
use crate::explore::value::Value;

fn ours(world: &mut World, format: &str, arguments: &[Value]) -> (i128, Vec<u8>) {
    let buffer = world.object(&[0; 4096]);
    let template = world.string(format.as_bytes());
    let mut all = vec![at(buffer), long(4096), at(template)];
    all.extend_from_slice(arguments);
    let length = world.integer("snprintf", &all, 32);
    (length, world.text(buffer).to_vec())
}

macro_rules! theirs {
    ($format:expr $(, $argument:expr)*) => {{
        let format = CString::new($format).expect("no zero byte");
        let mut buffer = vec![0u8; 4096];
        // SAFETY: the buffer's size is given, and the arguments fit the format.
        let length = unsafe { libc::snprintf(buffer.as_mut_ptr().cast(), buffer.len(), format.as_ptr() $(, $argument)*) };
        buffer.truncate(buffer.iter().position(|&byte| byte == 0).expect("a terminator"));
        (i128::from(length), buffer)
    }};
}

fn flags(numbers: &mut Numbers, choices: &[char]) -> String {
    (0..numbers.below(4)).map(|_| numbers.pick(choices)).collect()
}

fn size(numbers: &mut Numbers, greatest: usize) -> String {
    if numbers.below(2) == 0 { String::new() } else { (1 + numbers.below(greatest)).to_string() }
}

fn precision(numbers: &mut Numbers, greatest: usize) -> String {
    match numbers.below(4) {
        0 => ".".to_owned(),
        1 => format!(".{}", numbers.below(greatest)),
        _ => String::new(),
    }
}

fn same(ours: &(i128, Vec<u8>), theirs: &(i128, Vec<u8>), what: &str) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert_eq!((ours.0, text(&ours.1)), (theirs.0, text(&theirs.1)), "{what}");
}

#[test]
fn integers() {
    let mut numbers = Numbers::new(1);
    for _ in 0..20_000 {
        let mut world = World::new(8);
        let length = numbers.pick(&["", "hh", "h", "l", "ll", "z", "j", "t"]);
        let conversion = numbers.pick(&['d', 'i', 'u', 'o', 'x', 'X']);
        let format = format!(
            "<%{}{}{}{length}{conversion}>",
            flags(&mut numbers, &['-', '+', ' ', '#', '0']),
            size(&mut numbers, 30),
            precision(&mut numbers, 30)
        );
        let value = numbers.integer();
        let expected = theirs!(format.clone(), value);
        let argument = if matches!(length, "" | "h" | "hh") { int(value as i32) } else { long(value) };
        same(&ours(&mut world, &format, &[argument]), &expected, &format!("{format} of {value}"));
    }
}

#[test]
fn doubles() {
    let mut numbers = Numbers::new(2);
    for _ in 0..40_000 {
        let mut world = World::new(8);
        let conversion = numbers.pick(&['e', 'E', 'f', 'F', 'g', 'G', 'a', 'A']);
        // glibc 2.36 drops zeros that `%#g` must keep when rounding carries into a new digit.
        let choices: &[char] = if matches!(conversion, 'g' | 'G') { &['-', '+', ' ', '0'] } else { &['-', '+', ' ', '#', '0'] };
        let format =
            format!("<%{}{}{}{conversion}>", flags(&mut numbers, choices), size(&mut numbers, 40), precision(&mut numbers, 25));
        let value = numbers.double();
        let expected = theirs!(format.clone(), value);
        same(&ours(&mut world, &format, &[double(value)]), &expected, &format!("{format} of {value:e}"));
    }
}

#[test]
fn alternate_general_form() {
    let mut world = World::new(8);
    for value in [0.0, 1.0, 100000.0, 123456.75, 1e-5, 0.0001, 1.5e10, -2.25] {
        for format in ["%#g", "%#.3g", "%#.0g", "%#.10G"] {
            same(&ours(&mut world, format, &[double(value)]), &theirs!(format, value), &format!("{format} of {value:e}"));
        }
    }
    assert_eq!(ours(&mut world, "%#.5G", &[double(99999.95)]).1, b"1.0000E+05");
}

#[test]
fn strings_characters_and_pointers() {
    let mut numbers = Numbers::new(3);
    for _ in 0..5_000 {
        let mut world = World::new(8);
        let text: Vec<u8> = (0..numbers.below(20)).map(|_| b'a' + numbers.below(26) as u8).collect();
        let format =
            format!("<%{}{}{}s>", flags(&mut numbers, &['-', '0', '#']), size(&mut numbers, 30), precision(&mut numbers, 30));
        let native = CString::new(text.clone()).expect("no zero byte");
        let expected = theirs!(format.clone(), native.as_ptr());
        let place = world.string(&text);
        same(&ours(&mut world, &format, &[at(place)]), &expected, &format);
        let format = format!("<%{}{}c>", flags(&mut numbers, &['-', '0']), size(&mut numbers, 9));
        let expected = theirs!(format.clone(), i32::from(b'a'));
        same(&ours(&mut world, &format, &[int(b'a'.into())]), &expected, &format);
        let format = format!(
            "<%{}{}{}p>",
            flags(&mut numbers, &['-', '0', '+', ' ']),
            size(&mut numbers, 30),
            precision(&mut numbers, 20)
        );
        let address = if numbers.below(3) == 0 { 0 } else { numbers.next() >> numbers.below(60) };
        let expected = theirs!(format.clone(), address);
        same(&ours(&mut world, &format, &[long(address as i64)]), &expected, &format!("{format} of {address:x}"));
    }
}

#[test]
fn null_strings_stars_and_positions() {
    let mut world = World::new(8);
    for format in ["%s", "%.3s", "%.6s", "%10s"] {
        same(&ours(&mut world, format, &[long(0)]), &theirs!(format, std::ptr::null::<i8>()), format);
    }
    for (width, precision) in [(5, 2), (-7, 3), (0, -1), (12, 0)] {
        let expected = theirs!("%*.*d|%*d", width, precision, 42, width, -7);
        let arguments = [int(width), int(precision), int(42), int(width), int(-7)];
        same(&ours(&mut world, "%*.*d|%*d", &arguments), &expected, "stars");
    }
    let expected = theirs!("%2$s-%1$d-%3$*1$d %%", 4, c"two".as_ptr(), 3);
    let two = world.string(b"two");
    same(&ours(&mut world, "%2$s-%1$d-%3$*1$d %%", &[int(4), at(two), int(3)]), &expected, "positions");
}
