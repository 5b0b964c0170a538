//! A page: consecutive bytes of one object with their definedness and the pointers among them.
//!
//! # Invariants
//! 1. An undefined byte's data is 0, so that a load of partly defined bytes needs no masking.
//! 2. `undefined` is empty exactly when all bytes are defined; else it has one bit a byte, set for undefined ones.
//! 3. A pointer's slot lies wholly inside the page. One that would cross a page boundary is plain bytes: its object is found
//!    again by its address.

use smallvec::SmallVec;

use crate::explore::value::{Bytes, ObjectId};

/// The bytes of a page of a large object; an object of at most this size is one page of its own size.
pub const PAGE_BYTES: u64 = 4096;

#[derive(Clone)]
pub struct Page {
    data: SmallVec<[u8; 16]>,
    undefined: SmallVec<[u64; 2]>,
    undefined_count: u32,
    /// Ascending by offset, slots disjoint.
    pointers: SmallVec<[(u32, ObjectId); 2]>,
}

impl Page {
    pub fn zero(size: usize) -> Page {
        Page { data: SmallVec::from_elem(0, size), undefined: SmallVec::new(), undefined_count: 0, pointers: SmallVec::new() }
    }

    pub fn undefined(size: usize) -> Page {
        let mut page = Page::zero(size);
        page.undefine(0, size, 8);
        page
    }

    /// Up to 16 bytes as a little-endian number, undefined ones as 0; and how many of them are undefined.
    #[inline]
    pub fn read(&self, offset: usize, size: usize) -> (u128, u32) {
        let bytes = &self.data[offset..offset + size];
        let number = match *bytes {
            [a] => u128::from(a),
            [a, b] => u128::from(u16::from_le_bytes([a, b])),
            [a, b, c, d] => u128::from(u32::from_le_bytes([a, b, c, d])),
            [a, b, c, d, e, f, g, h] => u128::from(u64::from_le_bytes([a, b, c, d, e, f, g, h])),
            _ => {
                let mut buffer = [0; 16];
                buffer[..size].copy_from_slice(bytes);
                u128::from_le_bytes(buffer)
            }
        };
        (number, if self.undefined_count == 0 { 0 } else { self.undefined_in(offset, size) })
    }

    /// Up to 16 bytes of a little-endian number.
    #[inline]
    pub fn write(&mut self, offset: usize, size: usize, number: u128, pointer_bytes: u32) {
        let target = &mut self.data[offset..offset + size];
        match size {
            1 => target[0] = number as u8,
            2 => target.copy_from_slice(&(number as u16).to_le_bytes()),
            4 => target.copy_from_slice(&(number as u32).to_le_bytes()),
            8 => target.copy_from_slice(&(number as u64).to_le_bytes()),
            _ => target.copy_from_slice(&number.to_le_bytes()[..size]),
        }
        self.after_write(offset, size, pointer_bytes);
    }

    pub fn write_slice(&mut self, offset: usize, bytes: &[u8], pointer_bytes: u32) {
        self.data[offset..offset + bytes.len()].copy_from_slice(bytes);
        self.after_write(offset, bytes.len(), pointer_bytes);
    }

    pub fn fill(&mut self, offset: usize, size: usize, byte: u8, pointer_bytes: u32) {
        self.data[offset..offset + size].fill(byte);
        self.after_write(offset, size, pointer_bytes);
    }

    pub fn undefine(&mut self, offset: usize, size: usize, pointer_bytes: u32) {
        self.drop_pointers(offset, size, pointer_bytes);
        self.data[offset..offset + size].fill(0);
        if size == 0 {
            return;
        }
        if self.undefined.is_empty() {
            self.undefined = SmallVec::from_elem(0, self.data.len().div_ceil(64));
        }
        for_each_word(offset, size, |word, mask| {
            self.undefined_count += (mask & !self.undefined[word]).count_ones();
            self.undefined[word] |= mask;
        });
    }

    /// Writes a whole pointer into `object`.
    #[inline]
    pub fn write_pointer(&mut self, offset: usize, address: u64, object: ObjectId, pointer_bytes: u32) {
        let at = self.pointers.partition_point(|(at, _)| (*at as usize) < offset);
        if let Some(slot) = self.pointers.get_mut(at)
            && slot.0 as usize == offset
        {
            // A pointer stood here: slots are disjoint and all its bytes are defined.
            slot.1 = object;
            let size = pointer_bytes as usize;
            self.data[offset..offset + size].copy_from_slice(&address.to_le_bytes()[..size]);
        } else {
            self.write(offset, pointer_bytes as usize, u128::from(address), pointer_bytes);
            self.note_pointer(offset, object);
        }
    }

    /// Says that the bytes at `offset`, just written, are an address inside `object`.
    fn note_pointer(&mut self, offset: usize, object: ObjectId) {
        let offset = offset as u32;
        let position = self.pointers.partition_point(|(at, _)| *at < offset);
        self.pointers.insert(position, (offset, object));
    }

    /// The object that the whole pointer at `offset` points into.
    #[inline]
    pub fn pointer_at(&self, offset: usize) -> Option<ObjectId> {
        if self.pointers.is_empty() {
            return None;
        }
        let position = self.pointers.binary_search_by_key(&(offset as u32), |(at, _)| *at).ok()?;
        Some(self.pointers[position].1)
    }

    /// Appends a range to `bytes`; pointers are kept when they lie wholly inside it.
    pub fn read_into(&self, offset: usize, size: usize, pointer_bytes: u32, bytes: &mut Bytes) {
        let start = bytes.len();
        bytes.data.extend_from_slice(&self.data[offset..offset + size]);
        if self.undefined_count == 0 {
            bytes.defined.resize(bytes.data.len(), true);
        } else {
            bytes.defined.extend((offset..offset + size).map(|at| self.undefined[at / 64] >> (at % 64) & 1 == 0));
        }
        let end = offset + size;
        let first = self.pointers.partition_point(|(at, _)| (*at as usize) < offset);
        let inside = self.pointers[first..].iter().take_while(|(at, _)| (*at + pointer_bytes) as usize <= end);
        bytes.pointers.extend(inside.map(|(at, object)| (start + u64::from(*at) - offset as u64, *object)));
    }

    /// Writes `bytes[from..from + size]`; `size` bytes of this page from `offset` on.
    pub fn write_from(&mut self, offset: usize, bytes: &Bytes, from: usize, size: usize, pointer_bytes: u32) {
        self.write_slice(offset, &bytes.data[from..from + size], pointer_bytes);
        let mut at = from;
        while let Some(skip) = bytes.defined[at..from + size].iter().position(|defined| !defined) {
            let start = at + skip;
            let length = bytes.defined[start..from + size].iter().position(|d| *d).unwrap_or(from + size - start);
            self.undefine(offset + start - from, length, pointer_bytes);
            at = start + length;
        }
        let first = bytes.pointers.partition_point(|(at, _)| (*at as usize) < from);
        for (at, object) in &bytes.pointers[first..] {
            if *at as usize + pointer_bytes as usize > from + size {
                break;
            }
            self.note_pointer(offset + *at as usize - from, *object);
        }
    }

    #[inline]
    fn after_write(&mut self, offset: usize, size: usize, pointer_bytes: u32) {
        if !self.pointers.is_empty() {
            self.drop_pointers(offset, size, pointer_bytes);
        }
        if self.undefined_count != 0 {
            self.define(offset, size);
        }
    }

    fn define(&mut self, offset: usize, size: usize) {
        for_each_word(offset, size, |word, mask| {
            self.undefined_count -= (mask & self.undefined[word]).count_ones();
            self.undefined[word] &= !mask;
        });
        if self.undefined_count == 0 {
            self.undefined = SmallVec::new();
        }
    }

    fn undefined_in(&self, offset: usize, size: usize) -> u32 {
        let mut count = 0;
        for_each_word(offset, size, |word, mask| count += (mask & self.undefined[word]).count_ones());
        count
    }

    fn drop_pointers(&mut self, offset: usize, size: usize, pointer_bytes: u32) {
        let first = self.pointers.partition_point(|(at, _)| (*at + pointer_bytes) as usize <= offset);
        let overlapping = self.pointers[first..].iter().take_while(|(at, _)| (*at as usize) < offset + size).count();
        if overlapping > 0 && size > 0 {
            self.pointers.drain(first..first + overlapping);
        }
    }
}

/// Calls `f` with each word of a bit mask that the range touches, and the range's bits in it.
#[inline]
fn for_each_word(offset: usize, size: usize, mut f: impl FnMut(usize, u64)) {
    let (mut at, end) = (offset, offset + size);
    while at < end {
        let bit = at % 64;
        let length = (64 - bit).min(end - at);
        f(at / 64, (u64::MAX >> (64 - length)) << bit);
        at += length;
    }
}
