//! `sscanf` here and in the C library, on the same random formats and texts.

use std::ffi::CString;

use super::Numbers;
use super::world::{World, at};

#[test]
fn random_formats() {
    let mut numbers = Numbers::new(6);
    let directives = [
        "%d", "%i", "%u", "%x", "%o", "%ld", "%hd", "%hhu", "%lld", "%3d", "%2x", "%1i", "%f", "%lf", "%5lf", "%g", "%s", "%3s",
        "%c", "%2c", "%[a-f]", "%[^,]", "%4[0-9]", "%*d", "%*s", "%n", "%%", " ", ",", "x", "%zu", "%p",
    ];
    let words = [
        "12",
        "-7",
        "0x1f",
        "0x",
        "017",
        "+",
        "-",
        "3.25",
        "1e5",
        "1e+",
        ".5",
        ".",
        "inf",
        "nan",
        "infin",
        "hello",
        "abcdef",
        ",",
        " ",
        "  ",
        "%",
        "x",
        "99999999999999999999",
        "-99999999999",
        "0xg",
        "0x1p3",
        "0b1",
        "1.5e-3x",
        "",
    ];
    for _ in 0..60_000 {
        let format: String = (0..1 + numbers.below(4)).map(|_| numbers.pick(&directives)).collect();
        let text: String =
            (0..numbers.below(5)).map(|_| numbers.pick(&words).to_owned() + numbers.pick(&["", "", " "])).collect();
        let mut places = [[0xa5u8; 64]; 4];
        let (native_format, native_text) =
            (CString::new(format.clone()).expect("no zero"), CString::new(text.clone()).expect("no zero"));
        let pointers: Vec<*mut u8> = places.iter_mut().map(|place| place.as_mut_ptr()).collect();
        let [first, second, third, fourth] = pointers[..] else { panic!("four places") };
        // SAFETY: at most four directives store, each at most 64 bytes.
        let expected = unsafe { libc::sscanf(native_text.as_ptr(), native_format.as_ptr(), first, second, third, fourth) };
        let mut world = World::new(8);
        let mut arguments = vec![at(world.string(text.as_bytes())), at(world.string(format.as_bytes()))];
        let ours: Vec<_> = (0..4).map(|_| world.object(&[0xa5; 64])).collect();
        arguments.extend(ours.iter().map(|&place| at(place)));
        assert_eq!(world.integer("sscanf", &arguments, 32), i128::from(expected), "sscanf({text:?}, {format:?})");
        for (index, place) in ours.iter().enumerate() {
            assert_eq!(world.bytes(*place), &places[index][..], "sscanf({text:?}, {format:?}), place {index}");
        }
    }
}
