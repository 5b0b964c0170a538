//! Tests of memory: faults, provenance, undefined bytes, paging, snapshots.

use super::*;
use crate::program::FunctionId;

const HEAP: ObjectKind = ObjectKind::Heap { thread: 0, site: None };
const I8: Type = Type::integer(8);
const I32: Type = Type::integer(32);
const I64: Type = Type::integer(64);

fn memory_64() -> Memory {
    Memory::new(&DataLayout::default())
}

fn memory_32() -> Memory {
    Memory::new(&DataLayout { pointer_bytes: 4, triple: "i386-pc-linux-gnu".to_owned() })
}

fn allocate(memory: &mut Memory, size: u64) -> Pointer {
    memory.allocate(HEAP, size, 8, Fill::Undef).expect("there is room")
}

fn id(pointer: Pointer) -> ObjectId {
    pointer.object.expect("an allocation has an object")
}

#[test]
fn values_are_small_and_memories_can_be_sent() {
    fn is_send_and_sync<T: Send + Sync>() {}
    is_send_and_sync::<Memory>();
    assert!(size_of::<ScalarValue>() <= 32);
    assert!(size_of::<Value>() <= 32);
}

#[test]
fn addresses_ascend_with_gaps_and_alignment() {
    for mut memory in [memory_64(), memory_32()] {
        let mut end = FIRST_ADDRESS;
        for (size, align) in [(0, 1), (1, 1), (100, 64), (5000, 4096), (3, 16), (0, 1), (16, 1)] {
            let pointer = memory.allocate(HEAP, size, align, Fill::Zero).unwrap();
            assert!(pointer.address >= end + 16 && pointer.address % align == 0);
            assert_eq!(memory.object_at(pointer.address), pointer.object);
            assert_eq!(memory.object_at(pointer.address + size), pointer.object, "one past the end");
            assert_eq!(memory.object_at(pointer.address + size + 1), None, "in the gap");
            end = pointer.address + size;
        }
    }
}

#[test]
fn the_same_allocations_get_the_same_addresses() {
    let (mut one, mut other) = (memory_64(), memory_64());
    for size in 0..100 {
        assert_eq!(allocate(&mut one, size * 7), allocate(&mut other, size * 7));
    }
}

#[test]
fn addresses_of_32_bit_programs_fit_and_run_out() {
    let mut memory = memory_32();
    let half = allocate(&mut memory, 1 << 31);
    assert!(half.address + (1 << 31) < 1 << 32);
    assert_eq!(memory.allocate(HEAP, 1 << 31, 8, Fill::Undef), Err(Fault::OutOfMemory { size: 1 << 31 }));
    assert_eq!(memory_64().allocate(HEAP, u64::MAX, 8, Fill::Undef), Err(Fault::OutOfMemory { size: u64::MAX }));
    memory.store(half.plus(1 << 30), &Value::pointer(half), Type::POINTER).unwrap();
    assert_eq!(memory.load(half.plus(1 << 30), Type::POINTER), Ok(Value::pointer(half)));
    assert_eq!(memory.load(half.plus((1 << 30) + 4), I32), Ok(Value::undef(I32)), "a pointer is 4 bytes");
}

#[test]
fn accesses_outside_live_objects_are_faults() {
    let mut memory = memory_64();
    let object = allocate(&mut memory, 8);
    let wild = Pointer { address: object.address + 500, object: None };
    assert_eq!(memory.load(Pointer::NULL, I32), Err(Fault::NullDereference { address: 0 }));
    assert_eq!(memory.load(Pointer::NULL.plus(40), I32), Err(Fault::NullDereference { address: 40 }));
    assert_eq!(memory.load(wild, I8), Err(Fault::WildPointer { address: wild.address }));
    let beyond = |offset, size| Err(Fault::OutOfBounds { object: id(object), offset, size });
    assert_eq!(memory.load(object.plus(8), I8), beyond(8, 1));
    assert_eq!(memory.load(object.plus(5), I32), beyond(5, 4));
    assert_eq!(memory.load(object.plus(u64::MAX), I8), beyond(-1, 1));
    assert_eq!(memory.fill(object.plus(4), Some(0), 5), beyond(4, 5).map(|_: Value| ()));
    // A pointer into another object by arithmetic is still out of its own.
    let other = allocate(&mut memory, 8);
    let strayed = object.plus(other.address - object.address);
    assert!(matches!(memory.load(strayed, I8), Err(Fault::OutOfBounds { .. })));
    memory.release(id(object), Death::Freed);
    assert_eq!(memory.load(object, I8), Err(Fault::UseAfterFree { object: id(object) }));
    assert_eq!(memory.store(object, &Value::integer(8, 1), I8), Err(Fault::UseAfterFree { object: id(object) }));
    assert_eq!(memory.object(id(object)).state, State::Dead(Death::Freed));
    assert_eq!(memory.object_at(object.address + 3), Some(id(object)), "dead ones are known by address");
}

#[test]
fn constants_and_code_are_not_written() {
    let mut memory = memory_64();
    let constant = allocate(&mut memory, 4);
    memory.store(constant, &Value::integer(32, 7), I32).unwrap();
    memory.make_read_only(id(constant));
    assert_eq!(memory.load(constant, I32), Ok(Value::integer(32, 7)));
    assert_eq!(memory.write_bytes(constant, &[1]), Err(Fault::ReadOnly { object: id(constant) }));
    let function = memory.allocate(ObjectKind::Function(FunctionId::from(0)), 16, 16, Fill::Undef).unwrap();
    assert!(matches!(memory.load(function, I8), Err(Fault::Undefined { .. })));
}

#[test]
fn empty_ranges_touch_nothing() {
    let mut memory = memory_64();
    assert_eq!(memory.copy(Pointer::NULL, Pointer::NULL, 0), Ok(()));
    assert_eq!(memory.fill(Pointer::NULL, Some(1), 0), Ok(()));
    assert_eq!(memory.read_bytes(Pointer::NULL, 0), Ok(Vec::new()));
}

#[test]
fn partly_undefined_numbers_read_as_zero_there() {
    let mut memory = memory_64();
    let object = allocate(&mut memory, 16);
    assert_eq!(memory.load(object, I32), Ok(Value::undef(I32)));
    memory.store(object.plus(1), &Value::integer(8, 0xab), I8).unwrap();
    assert_eq!(memory.load(object, I32), Ok(Value::integer(32, 0xab00)));
    assert_eq!(memory.load(object.plus(2), I8), Ok(Value::undef(I8)));
    memory.store(object.plus(1), &Value::undef(I8), I8).unwrap();
    assert_eq!(memory.load(object, I32), Ok(Value::undef(I32)));
    let zeroed = memory.allocate(HEAP, 16, 8, Fill::Zero).unwrap();
    assert_eq!(memory.load(zeroed, I64), Ok(Value::integer(64, 0)));
    memory.store(zeroed, &Value::integer(64, u128::MAX), I64).unwrap();
    memory.store(zeroed.plus(2), &Value::poison(Type::integer(16)), Type::integer(16)).unwrap();
    assert_eq!(memory.load(zeroed, I64), Ok(Value::integer(64, 0xffff_ffff_0000_ffff)));
    memory.revive(id(zeroed));
    assert_eq!(memory.load(zeroed, I64), Ok(Value::undef(I64)));
}

#[test]
fn pointers_keep_their_object_until_a_part_is_overwritten() {
    for mut memory in [memory_64(), memory_32()] {
        let pointer_bytes = u64::from(memory.layout().pointer_bytes);
        let word = Type::integer(memory.layout().pointer_bits());
        let target = allocate(&mut memory, 8);
        let slots = allocate(&mut memory, 64);
        // Out of bounds: only provenance tells whose pointer it is.
        let stray = target.plus(400);
        memory.store(slots.plus(8), &Value::pointer(stray), Type::POINTER).unwrap();
        assert_eq!(memory.load(slots.plus(8), Type::POINTER), Ok(Value::pointer(stray)));
        assert_eq!(memory.load(slots.plus(8), word), Ok(Value::integer(pointer_bytes as u32 * 8, stray.address.into())));
        memory.copy(slots.plus(25), slots.plus(8), pointer_bytes).unwrap();
        assert_eq!(memory.load(slots.plus(25), Type::POINTER), Ok(Value::pointer(stray)), "copied whole");
        let byte = memory.read_bytes(slots.plus(8), 1).unwrap();
        memory.write_bytes(slots.plus(8), &byte).unwrap();
        let lost = Pointer { address: stray.address, object: None };
        assert_eq!(memory.load(slots.plus(8), Type::POINTER), Ok(Value::pointer(lost)), "the same bytes, no pointer");
        // Neighbours of a slot do not touch it.
        memory.store(slots.plus(24), &Value::integer(8, 1), I8).unwrap();
        memory.store(slots.plus(25 + pointer_bytes), &Value::integer(8, 1), I8).unwrap();
        assert_eq!(memory.load(slots.plus(25), Type::POINTER), Ok(Value::pointer(stray)));
        // In bounds, the object is found by address: one past the end as well.
        for offset in [0, 3, 8] {
            let bytes = (target.address + offset).to_le_bytes();
            memory.write_bytes(slots, &bytes[..pointer_bytes as usize]).unwrap();
            assert_eq!(memory.load(slots, Type::POINTER), Ok(Value::pointer(target.plus(offset))));
        }
        memory.fill(slots, Some(0), 64).unwrap();
        assert_eq!(memory.load(slots.plus(25), Type::POINTER), Ok(Value::pointer(Pointer::NULL)));
    }
}

#[test]
fn copies_may_overlap_and_carry_everything() {
    let mut memory = memory_64();
    let (target, slots) = (allocate(&mut memory, 8), allocate(&mut memory, 64));
    let stray = target.plus(999);
    memory.fill(slots, Some(1), 8).unwrap();
    memory.store(slots.plus(8), &Value::pointer(stray), Type::POINTER).unwrap();
    let before = memory.read(slots, 24).unwrap();
    memory.copy(slots.plus(4), slots, 24).unwrap();
    assert_eq!(memory.read(slots.plus(4), 24), Ok(before.clone()), "upwards");
    memory.copy(slots.plus(1), slots.plus(4), 24).unwrap();
    assert_eq!(memory.read(slots.plus(1), 24), Ok(before.clone()), "downwards");
    assert_eq!(before.defined, [[true; 16].as_slice(), &[false; 8]].concat());
    assert_eq!(before.pointers, [(8, id(target))]);
    assert_eq!(memory.read(slots.plus(10), 6).unwrap().pointers, [], "cut in two");
}

#[test]
fn large_objects_behave_like_small_ones() {
    // The same random operations on a paged object and on a plain model of it.
    let mut memory = memory_64();
    let size = 5 * 4096 + 123;
    let large = memory.allocate(HEAP, size, 8, Fill::Zero).unwrap();
    let mut model = Bytes::zero(size);
    let mut state = 7u64;
    let mut random = |below: u64| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) % below
    };
    for step in 0..3000 {
        let length = if step % 10 == 0 { random(9000) } else { random(20) };
        let (at, from) = (random(size - length), random(size - length));
        match random(5) {
            0 => {
                let bytes = Bytes::plain((0..length).map(|index| (index * 31 + step) as u8).collect());
                memory.write_bytes(large.plus(at), &bytes.data).unwrap();
                model.replace(at, &bytes, 8);
            }
            1 => {
                memory.copy(large.plus(at), large.plus(from), length).unwrap();
                let bytes = model.slice(from, length, 8);
                model.replace(at, &bytes, 8);
            }
            2 => {
                memory.fill(large.plus(at), None, length).unwrap();
                model.replace(at, &Bytes::undefined(length), 8);
            }
            3 => {
                memory.fill(large.plus(at), Some(step as u8), length).unwrap();
                model.replace(at, &Bytes::plain(vec![step as u8; length as usize]), 8);
            }
            _ => {
                let at = at.min(size - 8);
                let pointer = large.plus(random(size));
                memory.store(large.plus(at), &Value::pointer(pointer), Type::POINTER).unwrap();
                model.replace(at, &encode(memory.layout(), &Value::pointer(pointer)), 8);
            }
        }
        // A slot across a page boundary is bytes in memory, a pointer in the model.
        model.pointers.retain(|(at, _)| at % 4096 + 8 <= 4096);
    }
    assert_eq!(memory.read(large, size), Ok(model.clone()));
    for at in (4096 - 20..4096 + 20).chain(2 * 4096 - 20..2 * 4096 + 20) {
        for ty in [I8, I32, I64, Type::integer(256), Type::Vector { lanes: 3, element: Scalar::Integer(24) }] {
            assert_eq!(memory.load(large.plus(at), ty), Ok(decode(&memory, &model, at, ty)), "{ty:?} at {at}");
        }
    }
}

#[test]
fn a_snapshot_does_not_see_later_changes() {
    let mut memory = memory_64();
    let (small, large) = (allocate(&mut memory, 16), allocate(&mut memory, 1 << 20));
    memory.fill(large, Some(1), 1 << 20).unwrap();
    memory.store(small, &Value::integer(32, 1), I32).unwrap();
    let snapshot = memory.clone();
    memory.store(small, &Value::integer(32, 2), I32).unwrap();
    memory.store(large.plus(70_000), &Value::integer(8, 2), I8).unwrap();
    memory.release(id(small), Death::ScopeLeft);
    let young = allocate(&mut memory, 4);
    assert_eq!(snapshot.load(small, I32), Ok(Value::integer(32, 1)));
    assert_eq!(snapshot.load(large.plus(70_000), I8), Ok(Value::integer(8, 1)));
    assert_eq!(memory.load(large.plus(70_000), I8), Ok(Value::integer(8, 2)));
    assert_eq!(memory.load(large.plus(70_001), I8), Ok(Value::integer(8, 1)));
    assert_eq!(snapshot.object_at(young.address), None);
    let mut branch = snapshot.clone();
    assert_eq!(allocate(&mut branch, 4), young, "both futures place alike");
}

#[test]
fn values_of_every_type_survive_memory() {
    let mut memory = memory_64();
    let object = allocate(&mut memory, 200);
    let bits = |width: u32| Value::integer(width, 0x5a5a_1234_9abc_def0_0fed_cba9_8765_4321);
    let wide = |width: u32| {
        let mut words: Vec<u64> =
            (1..).map(|word: u64| word.wrapping_mul(0x9e37_79b9_7f4a_7c15)).take(width.div_ceil(64) as usize).collect();
        if !width.is_multiple_of(64) {
            *words.last_mut().unwrap() &= (1 << (width % 64)) - 1;
        }
        Value::Scalar(ScalarValue::WideInteger { bits: width, words: words.into() })
    };
    let lanes = |width: u32, count: u32| {
        Value::Vector((0..count).map(|lane| ScalarValue::integer(width, u128::from(lane * 3 + 1))).collect())
    };
    let float = |kind| Value::Scalar(ScalarValue::Float { kind, bits: 0x3fff });
    let pointers = Value::Vector([object, Pointer::NULL, object.plus(900)].map(ScalarValue::Pointer).into());
    let mut values: Vec<Value> = (1..=128).map(bits).chain([129, 192, 250, 256, 1000].map(wide)).collect();
    values.extend([lanes(1, 3), lanes(1, 16), lanes(8, 16), lanes(5, 7), lanes(64, 8), lanes(33, 3), pointers]);
    values.extend([Scalar::Half, Scalar::BFloat, Scalar::Float, Scalar::Double, Scalar::X86Fp80, Scalar::Fp128].map(float));
    for value in values {
        memory.fill(object, Some(0xee), 200).unwrap();
        memory.store(object.plus(3), &value, value.type_of()).unwrap();
        assert_eq!(memory.load(object.plus(3), value.type_of()), Ok(value.clone()));
        let size = memory.layout().store_bytes(value.type_of());
        assert_eq!(memory.load(object.plus(3 + size), I8), Ok(Value::integer(8, 0xee)), "{value:?} ends after {size} bytes");
    }
    memory.store(object, &lanes(1, 3), lanes(1, 3).type_of()).unwrap();
    assert_eq!(memory.load(object, I8), Ok(Value::integer(8, 0b101)), "lanes 1, 4, 7 of one bit are 1, 0, 1");
}
