//! The recorded accesses are exactly the bytes that C touches, and no access escapes its object.

use super::world::{Access, World, at, double, int, long};
use crate::explore::fault::Fault;
use crate::explore::value::{Pointer, Value};
use crate::program::Type;

/// The accesses of one call, as (is a write, offset from `base`, size).
fn accesses(world: &mut World, base: Pointer, name: &str, arguments: &[Value]) -> Vec<(bool, u64, u64)> {
    world.accesses.clear();
    world.call(name, arguments, Type::integer(64)).unwrap_or_else(|fault| panic!("{name}: {fault:?}"));
    let end = base.address + world.bytes(base).len() as u64;
    let inside = |address: u64| (base.address..end).contains(&address);
    let accesses = world.accesses.iter().filter_map(|access| match *access {
        Access::Read(address, size) if inside(address) => Some((false, address - base.address, size)),
        Access::Write(address, size) if inside(address) => Some((true, address - base.address, size)),
        Access::Read(..) | Access::Write(..) => None,
    });
    accesses.collect()
}

#[test]
fn strings_are_read_up_to_their_terminator() {
    let mut world = World::new(8);
    let long_string = world.object(&[&[b'x'; 200][..], &[0], &[b'y'; 99]].concat());
    assert_eq!(accesses(&mut world, long_string, "strlen", &[at(long_string)]), [(false, 0, 201)]);
    let text = world.object(b"12 34\0garbage behind");
    assert_eq!(accesses(&mut world, text, "strlen", &[at(text)]), [(false, 0, 6)]);
    assert_eq!(accesses(&mut world, text, "atoi", &[at(text)]), [(false, 0, 3)]);
    assert_eq!(accesses(&mut world, text, "strchr", &[at(text), int(b'2'.into())]), [(false, 0, 2)]);
    assert_eq!(accesses(&mut world, text, "strnlen", &[at(text), long(3)]), [(false, 0, 3)]);
    assert_eq!(accesses(&mut world, text, "memchr", &[at(text), int(b' '.into()), long(9)]), [(false, 0, 3)]);
    let format = world.string(b"%.2s");
    assert_eq!(accesses(&mut world, text, "printf", &[at(format), at(text)]), [(false, 0, 2)]);
    let other = world.string(b"12x");
    assert_eq!(accesses(&mut world, text, "strcmp", &[at(text), at(other)]), [(false, 0, 3)]);
    let number_format = world.string(b"%d");
    let place = world.object(&[0; 4]);
    assert_eq!(accesses(&mut world, text, "sscanf", &[at(text), at(number_format), at(place)]), [(false, 0, 3)]);
}

#[test]
fn copies_touch_what_they_copy() {
    let mut world = World::new(8);
    let source = world.object(b"ab\0cd");
    let target = world.object(&[7; 16]);
    assert_eq!(accesses(&mut world, target, "strcpy", &[at(target), at(source)]), [(true, 0, 3)]);
    assert_eq!(accesses(&mut world, source, "strcpy", &[at(target), at(source)]), [(false, 0, 3)]);
    assert_eq!(accesses(&mut world, target, "strncpy", &[at(target), at(source), long(8)]), [(true, 0, 3), (true, 3, 5)]);
    assert_eq!(&world.bytes(target)[..9], b"ab\0\0\0\0\0\0\x07");
    assert_eq!(accesses(&mut world, target, "snprintf", &[at(target), long(0), at(source)]), []);
    assert_eq!(accesses(&mut world, target, "memcpy", &[at(target), at(source), long(0)]), []);
}

#[test]
fn what_leaves_its_object_is_a_fault() {
    let mut world = World::new(8);
    let open = world.object(b"abc");
    let small = world.object(&[0; 2]);
    let text = world.string(b"abc");
    let fault =
        |world: &mut World, name: &str, arguments: &[Value]| world.call(name, arguments, Type::integer(64)).expect_err(name);
    for (name, arguments) in [
        ("strlen", vec![at(open)]),
        ("strcmp", vec![at(open), at(text)]),
        ("puts", vec![at(open)]),
        ("strcpy", vec![at(small), at(text)]),
        ("sprintf", vec![at(small), at(text)]),
        ("memset", vec![at(small), int(0), long(3)]),
        ("memcmp", vec![at(open), at(text), long(4)]),
        ("qsort", vec![at(open), long(1 << 40), long(4), at(text)]),
    ] {
        assert!(matches!(fault(&mut world, name, &arguments), Fault::OutOfBounds { .. }), "{name}");
    }
    assert!(matches!(fault(&mut world, "strlen", &[long(0)]), Fault::NullDereference { .. }));
    let format = world.string(b"%d %d");
    assert!(matches!(fault(&mut world, "printf", &[at(format), int(1)]), Fault::Undefined { .. }));
    assert!(matches!(fault(&mut world, "printf", &[at(format), double(1.0), int(1)]), Fault::Undefined { .. }));
}
