//! String functions here and in the C library, on the same random strings; `qsort` with its order of comparisons.

use std::cell::RefCell;
use std::ffi::CString;

use super::Numbers;
use super::world::{World, at, int, long};
use crate::explore::value::{ScalarValue, Value};
use crate::program::Type;

fn word(numbers: &mut Numbers) -> Vec<u8> {
    (0..numbers.below(12)).map(|_| numbers.pick(b"abAB,; \xe9")).collect()
}

#[test]
fn comparisons_and_searches() {
    let mut numbers = Numbers::new(7);
    for _ in 0..20_000 {
        let (left, right) = (word(&mut numbers), word(&mut numbers));
        let limit = numbers.below(8);
        let (a, b) = (CString::new(left.clone()).expect("no zero"), CString::new(right.clone()).expect("no zero"));
        let (x, y) = (a.as_ptr(), b.as_ptr());
        let character = i32::from(numbers.pick(b"abA,\0"));
        let mut world = World::new(8);
        let (p, q) = (world.string(&left), world.string(&right));
        // SAFETY: terminated strings throughout.
        unsafe {
            assert_eq!(world.integer("strcmp", &[at(p), at(q)], 32).signum(), i128::from(libc::strcmp(x, y).signum()));
            let bounded = world.integer("strncmp", &[at(p), at(q), long(limit as i64)], 32);
            assert_eq!(bounded.signum(), i128::from(libc::strncmp(x, y, limit).signum()));
            assert_eq!(world.integer("strcasecmp", &[at(p), at(q)], 32), i128::from(libc::strcasecmp(x, y)));
            assert_eq!(world.integer("strspn", &[at(p), at(q)], 64), libc::strspn(x, y) as i128);
            assert_eq!(world.integer("strcspn", &[at(p), at(q)], 64), libc::strcspn(x, y) as i128);
            let offset = |native: *const libc::c_char| if native.is_null() { 0 } else { p.address + (native as u64 - x as u64) };
            assert_eq!(world.pointer("strstr", &[at(p), at(q)]).address, offset(libc::strstr(x, y)));
            assert_eq!(world.pointer("strpbrk", &[at(p), at(q)]).address, offset(libc::strpbrk(x, y)));
            assert_eq!(world.pointer("strchr", &[at(p), int(character)]).address, offset(libc::strchr(x, character)));
            assert_eq!(world.pointer("strrchr", &[at(p), int(character)]).address, offset(libc::strrchr(x, character)));
        }
    }
}

#[test]
fn tokens() {
    let mut numbers = Numbers::new(8);
    for _ in 0..5_000 {
        let text = word(&mut numbers);
        let mut native: Vec<u8> = [&text[..], &[0]].concat();
        let mut world = World::new(8);
        let place = world.string(&text);
        let state = world.object(&[0; 8]);
        let separators = world.string(b",; ");
        let mut saved: *mut libc::c_char = std::ptr::null_mut();
        let mut first = true;
        loop {
            let given = if first { native.as_mut_ptr().cast() } else { std::ptr::null_mut() };
            // SAFETY: a terminated string that outlives the loop.
            let expected = unsafe { libc::strtok_r(given, c",; ".as_ptr(), &mut saved) };
            let argument = if first { at(place) } else { long(0) };
            let actual = world.pointer("strtok_r", &[argument.clone(), at(separators), at(state)]);
            first = false;
            if expected.is_null() {
                assert!(actual.is_null());
                break;
            }
            assert_eq!(actual.address - place.address, expected as u64 - native.as_ptr() as u64, "{text:?}");
            let length = world.text(actual).len();
            // SAFETY: what `strtok_r` returned is terminated.
            assert_eq!(length, unsafe { libc::strlen(expected) });
        }
        assert_eq!(world.bytes(place), &native[..]);
    }
}

thread_local! {
    static COMPARED: RefCell<Vec<(u32, u32)>> = const { RefCell::new(Vec::new()) };
}

extern "C" fn compare_keys(left: *const libc::c_void, right: *const libc::c_void) -> i32 {
    // SAFETY: `qsort` hands over pointers to the elements.
    let (left, right) = unsafe { (*left.cast::<u32>(), *right.cast::<u32>()) };
    COMPARED.with_borrow_mut(|compared| compared.push((left, right)));
    // Only the low byte counts, so that stability shows.
    ((left & 0xff) as i32) - ((right & 0xff) as i32)
}

#[test]
fn qsort_compares_and_orders_as_glibc_does() {
    let mut numbers = Numbers::new(9);
    for round in 0..300 {
        let mut native: Vec<u32> = (0..numbers.below(60)).map(|index| (index as u32) << 8 | numbers.below(10) as u32).collect();
        let bytes: Vec<u8> = native.iter().flat_map(|element| element.to_le_bytes()).collect();
        let mut world = World::new(8);
        let base = world.object(&bytes);
        COMPARED.take();
        // SAFETY: base, count and size describe the vector.
        unsafe { libc::qsort(native.as_mut_ptr().cast(), native.len(), 4, Some(compare_keys)) };
        let expected = COMPARED.take();
        let mut compared = Vec::new();
        let arguments = [at(base), long(native.len() as i64), long(4), at(base)];
        let result = world.call_with("qsort", &arguments, Type::Void, |world, arguments| {
            let [left, right] = [0, 1].map(|index| match &arguments[index] {
                Value::Scalar(ScalarValue::Pointer(pointer)) => {
                    u32::from_le_bytes(world.bytes(*pointer)[..4].try_into().expect("4 bytes"))
                }
                other => panic!("{other:?}"),
            });
            compared.push((left, right));
            ((left & 0xff) as i32) - ((right & 0xff) as i32)
        });
        assert_eq!(result, Ok(None));
        let sorted: Vec<u8> = native.iter().flat_map(|element| element.to_le_bytes()).collect();
        assert_eq!(world.bytes(base), &sorted[..], "round {round}");
        assert_eq!(world.live_heap_objects(), 0);
        if is_merge_sort() {
            assert_eq!(compared, expected, "round {round}");
        }
    }
}

/// The order of comparisons was seen in glibc 2.36; of later ones only a stable result is demanded.
fn is_merge_sort() -> bool {
    // SAFETY: a static string of the library.
    let version = unsafe { std::ffi::CStr::from_ptr(libc::gnu_get_libc_version()) };
    let minor = version.to_str().ok().and_then(|text| text.split('.').nth(1)?.parse::<u32>().ok());
    minor.is_some_and(|minor| minor < 37)
}
