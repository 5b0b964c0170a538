//! The heap. Allocations succeed unless the size is impossible: that memory is never short is a standing assumption.

use super::call::{Call, Outcome};
use super::errors::{EINVAL, ENOMEM};
use crate::explore::fault::Fault;
use crate::explore::value::Pointer;

/// No object is larger than the largest pointer difference.
fn is_possible(call: &Call, size: u64) -> bool {
    size < 1 << (call.long_bits() - 1)
}

fn allocate(call: &mut Call, size: u64, zeroed: bool) -> Result<Pointer, Fault> {
    let object = if is_possible(call, size) { call.environment.allocate(size, zeroed)? } else { Pointer::NULL };
    if object.is_null() {
        call.set_errno(ENOMEM)?;
    }
    Ok(object)
}

fn product(call: &Call, first: usize, second: usize) -> Result<u64, Fault> {
    Ok(call.unsigned(first)?.saturating_mul(call.unsigned(second)?))
}

pub fn malloc(mut call: Call) -> Outcome {
    let size = call.unsigned(0)?;
    let object = allocate(&mut call, size, false)?;
    call.pointer_result(object)
}

pub fn calloc(mut call: Call) -> Outcome {
    let size = product(&call, 0, 1)?;
    let object = allocate(&mut call, size, true)?;
    call.pointer_result(object)
}

pub fn realloc(call: Call) -> Outcome {
    let (pointer, size) = (call.pointer(0)?, call.unsigned(1)?);
    resize(call, pointer, size)
}

pub fn reallocarray(call: Call) -> Outcome {
    let (pointer, size) = (call.pointer(0)?, product(&call, 1, 2)?);
    resize(call, pointer, size)
}

/// The object always moves: a program that keeps the old pointer is wrong, and is caught.
fn resize(mut call: Call, pointer: Pointer, size: u64) -> Outcome {
    if pointer.is_null() {
        let object = allocate(&mut call, size, false)?;
        return call.pointer_result(object);
    }
    let before = match call.environment.heap_size(pointer) {
        Ok(before) => before,
        // `free` names the fault best: freed twice, or never allocated.
        Err(fault) => return Err(call.environment.free(pointer).err().unwrap_or(fault)),
    };
    // glibc: size 0 frees.
    if size == 0 {
        call.environment.free(pointer)?;
        return call.pointer_result(Pointer::NULL);
    }
    let object = allocate(&mut call, size, false)?;
    if object.is_null() {
        return call.pointer_result(object);
    }
    if before.min(size) > 0 {
        call.environment.copy(object, pointer, before.min(size))?;
    }
    call.environment.free(pointer)?;
    call.pointer_result(object)
}

pub fn free(call: Call) -> Outcome {
    let pointer = call.pointer(0)?;
    if !pointer.is_null() {
        call.environment.free(pointer)?;
    }
    call.nothing()
}

fn allocate_aligned(call: &mut Call, align: u64, size: u64) -> Result<Pointer, Fault> {
    let fits = is_possible(call, size) && is_possible(call, align);
    let object = if fits { call.environment.allocate_aligned(size, align)? } else { Pointer::NULL };
    if object.is_null() {
        call.set_errno(ENOMEM)?;
    }
    Ok(object)
}

/// `aligned_alloc` and `memalign`: the alignment is rounded up to a power of two.
pub fn aligned_alloc(mut call: Call) -> Outcome {
    let (align, size) = (call.unsigned(0)?, call.unsigned(1)?);
    let object = allocate_aligned(&mut call, align.checked_next_power_of_two().unwrap_or(1 << 63), size)?;
    call.pointer_result(object)
}

pub fn valloc(mut call: Call) -> Outcome {
    let size = call.unsigned(0)?;
    let object = allocate_aligned(&mut call, super::system::PAGE_SIZE, size)?;
    call.pointer_result(object)
}

pub fn posix_memalign(mut call: Call) -> Outcome {
    let (place, align, size) = (call.pointer(0)?, call.unsigned(1)?, call.unsigned(2)?);
    if !align.is_power_of_two() || align % u64::from(call.environment.layout().pointer_bytes) != 0 {
        return call.integer(EINVAL.into());
    }
    if !is_possible(&call, size) {
        return call.integer(ENOMEM.into());
    }
    let object = call.environment.allocate_aligned(size, align)?;
    if object.is_null() {
        return call.integer(ENOMEM.into());
    }
    call.store_pointer(place, object)?;
    call.integer(0)
}

pub fn malloc_usable_size(call: Call) -> Outcome {
    let pointer = call.pointer(0)?;
    let size = if pointer.is_null() { 0 } else { call.environment.heap_size(pointer)? };
    call.integer(size.into())
}
