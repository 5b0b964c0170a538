//! What cannot be compared with the running C library: both pointer widths, streams, the heap, tables, extended numbers.

use super::world::{World, at, int, long};
use crate::explore::builtins::call::offset;
use crate::explore::environment::Environment;
use crate::explore::fault::Fault;
use crate::explore::value::{Pointer, ScalarValue, Value};
use crate::program::{Scalar, Type};

fn word(value: u32) -> Value {
    Value::integer(32, value.into())
}

#[test]
fn long_is_as_wide_as_a_pointer() {
    let mut world = World::new(4);
    let text = world.string(b"99999999999");
    assert_eq!(world.integer("strtol", &[at(text), word(0), int(10)], 32), i128::from(i32::MAX));
    assert_eq!(world.integer("strtoll", &[at(text), word(0), int(10)], 64), 99_999_999_999);
    assert_eq!(world.integer("atoi", &[at(text)], 32), i128::from(i32::MAX));
    let format = world.string(b"%ld %lu %lld %zu");
    world.call("printf", &[at(format), int(-1), int(-1), long(-1), int(-1)], Type::integer(32)).expect("printf");
    assert_eq!(world.output, b"-1 4294967295 -1 4294967295");
    let mut world = World::new(8);
    let text = world.string(b"99999999999");
    assert_eq!(world.integer("atoi", &[at(text)], 32), i128::from(99_999_999_999u64 as i32));
}

#[test]
fn a_list_of_arguments_in_memory() {
    let mut world = World::new(4);
    let name = world.string(b"seven");
    let mut slots = Vec::new();
    slots.extend_from_slice(&7u32.to_le_bytes());
    slots.extend_from_slice(&(name.address as u32).to_le_bytes());
    slots.extend_from_slice(&0.5f64.to_le_bytes());
    slots.extend_from_slice(&(-3i64).to_le_bytes());
    let list = world.object(&slots);
    let format = world.string(b"%d %s %.2f %lld\n");
    world.call("vprintf", &[at(format), at(list)], Type::integer(32)).expect("vprintf");
    assert_eq!(world.output, b"7 seven 0.50 -3\n");

    let mut world = World::new(8);
    let name = world.string(b"seven");
    let mut saved = vec![0u8; 176];
    saved[40..44].copy_from_slice(&7u32.to_le_bytes());
    saved[48..56].copy_from_slice(&0.5f64.to_le_bytes());
    let save_area = world.object(&saved);
    let overflow = world.object(&name.address.to_le_bytes());
    let mut state = Vec::new();
    state.extend_from_slice(&40u32.to_le_bytes());
    state.extend_from_slice(&48u32.to_le_bytes());
    state.extend_from_slice(&overflow.address.to_le_bytes());
    state.extend_from_slice(&save_area.address.to_le_bytes());
    let list = world.object(&state);
    let format = world.string(b"%d %s %.2f\n");
    world.call("vprintf", &[at(format), at(list)], Type::integer(32)).expect("vprintf");
    assert_eq!(world.output, b"7 seven 0.50\n");
}

#[test]
fn extended_numbers_are_printed_exactly() {
    let extended = |bits: u128| Value::Scalar(ScalarValue::Float { kind: Scalar::X86Fp80, bits });
    let tenth = 0x3ffb_cccc_cccc_cccc_cccd;
    for (format, bits, expected) in [
        ("%Lf", 0x3fff_8000_0000_0000_0000, "1.000000"),
        ("%.30Lf", tenth, "0.100000000000000000001355252716"),
        ("%.21Le", tenth, "1.000000000000000000014e-01"),
        ("%Lg", 0xc000_c000_0000_0000_0000, "-3"),
        ("%La", 0x3fff_8000_0000_0000_0000, "0x8p-3"),
        ("%La", tenth, "0xc.ccccccccccccccdp-7"),
        ("%Lf", 0x7fff_8000_0000_0000_0000, "inf"),
        ("%Lg", 0x7ffe_ffff_ffff_ffff_ffff, "1.18973e+4932"),
    ] {
        let mut world = World::new(8);
        let template = world.string(format.as_bytes());
        world.call("printf", &[at(template), extended(bits)], Type::integer(32)).expect("printf");
        assert_eq!(String::from_utf8_lossy(&world.output), expected, "{format}");
    }
    let mut world = World::new(8);
    let text = world.string(b"0.1");
    assert_eq!(world.real("strtold", &[at(text), long(0)], Scalar::X86Fp80), tenth);
}

#[test]
fn streams() {
    let mut world = World::new(8);
    let text = world.string(b"hello");
    let [input, output, error] = ["stdin", "stdout", "stderr"]
        .map(|name| crate::explore::builtins::stream::standard_stream(&mut world, name).expect("a stream").expect("a stream"));
    assert_eq!(world.integer("puts", &[at(text)], 32), 6);
    world.call("fputs", &[at(text), at(error)], Type::integer(32)).expect("fputs");
    assert_eq!(world.integer("fputc", &[int(33), at(output)], 32), 33);
    assert_eq!(world.integer("fwrite", &[at(text), long(2), long(2), at(output)], 64), 2);
    assert_eq!((&world.output[..], &world.error[..]), (&b"hello\n!hell"[..], &b"hello"[..]));
    assert_eq!(world.integer("feof", &[at(input)], 32), 0);
    assert_eq!(world.integer("fgetc", &[at(input)], 32), -1);
    assert_eq!(world.integer("feof", &[at(input)], 32), 1);
    assert_eq!(world.integer("ungetc", &[int(0), at(input)], 32), 0);
    assert_eq!(world.integer("getchar", &[], 32), 0);

    world.choices = vec![0, 1, 0, b'4'.into(), 0, b'2'.into(), 1];
    let mode = world.string(b"r");
    assert!(world.pointer("fopen", &[at(text), at(mode)]).is_null());
    let file = world.pointer("fopen", &[at(text), at(mode)]);
    let (format, place) = (world.string(b"%d"), world.object(&[0; 4]));
    assert_eq!(world.integer("fscanf", &[at(file), at(format), at(place)], 32), 1);
    assert_eq!(world.bytes(place), 42u32.to_le_bytes());
    assert_eq!(world.integer("feof", &[at(file)], 32), 1);
    assert_eq!(world.integer("fclose", &[at(file)], 32), 0);
    assert!(matches!(world.call("fputs", &[at(text), at(file)], Type::integer(32)), Err(Fault::UseAfterFree { .. })));
    assert!(matches!(world.call("fclose", &[long(0)], Type::integer(32)), Err(Fault::NullDereference { .. })));
}

#[test]
fn the_heap() {
    let mut world = World::new(8);
    let first = world.pointer("malloc", &[long(4)]);
    world.write(first, b"abcd").expect("in bounds");
    let second = world.pointer("realloc", &[at(first), long(6)]);
    assert_eq!(&world.bytes(second)[..4], b"abcd");
    assert!(matches!(world.read(first, 1), Err(Fault::UseAfterFree { .. })));
    assert!(matches!(world.call("realloc", &[at(first), long(6)], Type::POINTER), Err(Fault::DoubleFree { .. })));
    assert_eq!(world.pointer("malloc", &[long(-1)]), Pointer::NULL);
    assert_eq!(world.pointer("calloc", &[long(1 << 40), long(1 << 40)]), Pointer::NULL);
    assert_eq!(world.errno_value(), libc::ENOMEM);
    assert_eq!(world.pointer("aligned_alloc", &[long(256), long(10)]).address % 256, 0);
    let place = world.object(&[0; 8]);
    assert_eq!(world.integer("posix_memalign", &[at(place), long(3), long(8)], 32), i128::from(libc::EINVAL));
    assert_eq!(world.integer("posix_memalign", &[at(place), long(64), long(8)], 32), 0);
    world.call("free", &[long(0)], Type::Void).expect("free(NULL)");
    let text = world.string(b"word");
    let copy = world.pointer("strndup", &[at(text), long(3)]);
    assert_eq!(world.bytes(copy), b"wor\0");
}

#[test]
fn tables_of_characters_are_the_library_s() {
    let mut world = World::new(8);
    let place = world.pointer("__ctype_b_loc", &[]);
    assert_eq!(world.pointer("__ctype_b_loc", &[]), place);
    let table = world.resolve(u64::from_le_bytes(world.bytes(place).try_into().expect("a pointer")));
    for character in 0..256u64 {
        let entry = world.peek(offset(table, 2 * character), 2).expect("an entry");
        let mask = i128::from(u16::from_le_bytes([entry[0], entry[1]]));
        for (name, native) in [
            ("isalpha", libc::isalpha as unsafe extern "C" fn(i32) -> i32),
            ("isspace", libc::isspace),
            ("ispunct", libc::ispunct),
            ("isxdigit", libc::isxdigit),
            ("iscntrl", libc::iscntrl),
            ("isblank", libc::isblank),
            ("isprint", libc::isprint),
        ] {
            // SAFETY: every unsigned char is a valid argument.
            let expected = i128::from(unsafe { native(character as i32) });
            let actual = world.integer(name, &[int(character as i32)], 32);
            assert_eq!(actual, expected, "{name}({character})");
            assert_eq!(mask & expected, expected, "{name}({character}) in the table");
        }
    }
    assert_eq!(world.integer("toupper", &[int(b'q'.into())], 32), i128::from(b'Q'));
    assert_eq!(world.integer("tolower", &[int(-1)], 32), -1);
}

#[test]
fn division_returns_a_struct() {
    let mut world = World::new(8);
    assert_eq!(world.integer("div", &[int(-7), int(2)], 64) as u64, (-3i32 as u32 as u64) | (-1i32 as u32 as u64) << 32);
    match world.call("ldiv", &[long(7), long(-2)], Type::Aggregate { size: 16 }) {
        Ok(Some(Value::Aggregate(bytes))) => assert_eq!(bytes.data, [(-3i64).to_le_bytes(), 1i64.to_le_bytes()].concat()),
        other => panic!("{other:?}"),
    }
    let mut world = World::new(4);
    let place = world.object(&[0; 8]);
    assert_eq!(world.call("div", &[at(place), int(9), int(4)], Type::Void), Ok(None));
    assert_eq!(world.bytes(place), [2i32.to_le_bytes(), 1i32.to_le_bytes()].concat());
    assert_eq!(world.call("div", &[at(place), int(9), int(0)], Type::Void), Err(Fault::DivisionByZero));
}

#[test]
fn binary_search_probes_the_middle() {
    let mut world = World::new(8);
    let elements: Vec<u8> = (0..9u32).flat_map(|value| (value * 10).to_le_bytes()).collect();
    let base = world.object(&elements);
    for wanted in 0..90u32 {
        let key = world.object(&wanted.to_le_bytes());
        let arguments = [at(key), at(base), long(9), long(4), at(base)];
        let found = world.call_with("bsearch", &arguments, Type::POINTER, |world, arguments| {
            let Value::Scalar(ScalarValue::Pointer(element)) = &arguments[1] else { panic!("a pointer") };
            let value = u32::from_le_bytes(world.bytes(*element)[..4].try_into().expect("4 bytes"));
            wanted.cmp(&value) as i32
        });
        let expected = if wanted % 10 == 0 { offset(base, u64::from(wanted / 10) * 4).address } else { 0 };
        assert!(
            matches!(found, Ok(Some(Value::Scalar(ScalarValue::Pointer(pointer)))) if pointer.address == expected),
            "{wanted}"
        );
    }
}

#[test]
fn random_numbers() {
    let mut world = World::new(8);
    world.choices = vec![12345];
    assert_eq!(world.integer("rand", &[], 32), 12345);
    let seed = world.object(&1u32.to_le_bytes());
    let mut native_seed = 1;
    for _ in 0..100 {
        // SAFETY: the seed's place.
        let expected = unsafe { rand_r(&mut native_seed) };
        assert_eq!(world.integer("rand_r", &[at(seed)], 32), i128::from(expected));
    }
    world.call("srand48", &[long(42)], Type::Void).expect("srand48");
    // SAFETY: the state is the library's; no other test uses it.
    unsafe { libc::srand48(42) };
    for _ in 0..100 {
        // SAFETY: as above.
        let (expected, signed) = unsafe { (libc::lrand48(), libc::mrand48()) };
        assert_eq!(world.integer("lrand48", &[], 64), i128::from(expected));
        assert_eq!(world.integer("mrand48", &[], 64), i128::from(signed));
    }
}

unsafe extern "C" {
    fn rand_r(seed: *mut u32) -> i32;
}
