//! Locations: an abstract object and a class of byte offsets inside it.
//!
//! # Definition   Offsets r, r+s, r−s, … inside the object: the class (r, s), 0 ≤ r < s. s = 0 is the one offset r; s = 1 is any offset. A class
//!                may have a window of c steps of t bytes, c·t ≤ s or s = 0: r + n·s + m·t, 0 ≤ m < c, for an array inside a struct.
//! # Theorem      Classes (r, s) and (r′, s′), read for w and w′ bytes, touch a common byte of some object only if, with g = gcd(s, s′) and
//!                d = (r′ − r) mod g, d < w or g − d < w′ (with g = 0: the two ranges overlap). With windows this holds for the windows as
//!                wholes, w + (c − 1)·t bytes each, and for their members modulo the gcd of all strides and steps.

use rustc_hash::FxHashMap;

use super::object::AbstractObjectId;
use super::room::Room;

/// Where a pointer may point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Location {
    pub object: AbstractObjectId,
    pub offset: Offset,
}

/// Byte offsets inside an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Offset {
    At(u64),
    /// All offsets `residue + n·stride`; 0 ≤ `residue` < `stride`, `stride` > 1.
    Class {
        residue: u64,
        stride: u64,
    },
    Any,
}

impl Offset {
    pub fn contains(self, offset: u64) -> bool {
        match self {
            Offset::At(at) => at == offset,
            Offset::Class { residue, stride } => offset % stride == residue,
            Offset::Any => true,
        }
    }
}

/// An [`Offset`] in the form that arithmetic likes: all `residue + n·stride + m·step`, 0 ≤ m < `count`.
///
/// Always in the one form that `normal` gives, so that equal classes are equal values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Class {
    pub residue: u64,
    /// 0 for a single place, 1 for any.
    pub stride: u64,
    /// The window: elements of an array inside each place. 0 and 1 where there is none.
    pub step: u32,
    pub count: u32,
}

impl Class {
    pub const ANY: Class = Class { residue: 0, stride: 1, step: 0, count: 1 };

    pub fn at(offset: u64) -> Class {
        Class { residue: offset, stride: 0, step: 0, count: 1 }
    }

    fn normal(residue: u64, stride: u64, step: u32, count: u32) -> Class {
        if stride == 0 {
            return Class { residue, stride, step: if count > 1 { step } else { 0 }, count };
        }
        // A window that is wider than the distance of the places, or falls together with them, is none.
        let is_window = count > 1 && !u64::from(step).is_multiple_of(stride);
        if is_window && u64::from(step) * u64::from(count) <= stride {
            return Class { residue: residue % stride, stride, step, count };
        }
        let stride = if is_window { greatest_common_divisor(stride, step.into()) } else { stride };
        Class { residue: residue % stride, stride, step: 0, count: 1 }
    }

    /// The only offset there is.
    pub fn only(self) -> Option<u64> {
        (self.stride == 0 && self.count == 1).then_some(self.residue)
    }

    /// The first place of each window.
    pub fn first(self) -> Class {
        Class { step: 0, count: 1, ..self }
    }

    /// The bytes from the first to the last member of a window.
    pub fn reach(self) -> u64 {
        u64::from(self.step) * u64::from(self.count - 1)
    }

    /// The window given up: a class of one stride.
    pub fn flat(self) -> Class {
        if self.count == 1 {
            self
        } else {
            Class::normal(self.residue, greatest_common_divisor(self.stride, self.step.into()), 0, 1)
        }
    }

    /// All offsets that differ from this class's by multiples of `stride`.
    pub fn widened(self, stride: u64) -> Class {
        if stride == 0 {
            return self;
        }
        Class::normal(self.residue, greatest_common_divisor(self.stride, stride), self.step, self.count)
    }

    /// All offsets that lie `0 ≤ m < count` steps behind this class's.
    pub fn windowed(self, step: u32, count: u32) -> Class {
        if count == 1 || step == 0 {
            return self;
        }
        if self.count == 1 {
            return Class::normal(self.residue, self.stride, step, count);
        }
        // Two windows: the wider one becomes places, if the other fits between them.
        let (outer, inner) =
            if step > self.step { ((step, count), (self.step, self.count)) } else { ((self.step, self.count), (step, count)) };
        Class::normal(self.residue, greatest_common_divisor(self.stride, outer.0.into()), inner.0, inner.1)
    }

    /// All bytes of a range that begins here.
    pub fn of_bytes(self, bytes: u64) -> Class {
        u32::try_from(bytes).map_or(Class::ANY, |bytes| self.windowed(1, bytes.max(1)))
    }

    /// The offsets `by` further on; `None` below the object's start.
    pub fn plus(self, by: i64) -> Option<Class> {
        let residue = match self.stride {
            0 => self.residue.checked_add_signed(by)?,
            stride => {
                let distance = by.unsigned_abs() % stride;
                (self.residue + if by < 0 { stride - distance } else { distance }) % stride
            }
        };
        Some(Class { residue, ..self })
    }

    pub fn offset(self) -> Offset {
        let flat = self.flat();
        match flat.stride {
            0 => Offset::At(flat.residue),
            1 => Offset::Any,
            stride => Offset::Class { residue: flat.residue, stride },
        }
    }

    /// Whether an access of `width` bytes here and one of `other_width` bytes there may touch a common byte.
    pub fn overlaps(self, width: u64, other: Class, other_width: u64) -> bool {
        // Any offset meets every access; most questions are of this kind.
        if (self.stride == 1 || other.stride == 1) && width > 0 {
            return true;
        }
        let (reach, other_reach) = (self.reach().saturating_add(width), other.reach().saturating_add(other_width));
        // As whole windows, then, if both are windows or one is, by what their members are modulo their steps.
        match greatest_common_divisor(self.stride, other.stride) {
            0 => {
                let is_near = self.residue < other.residue.saturating_add(other_reach)
                    && other.residue < self.residue.saturating_add(reach);
                is_near && self.meets_modulo(width, other, other_width)
            }
            common => {
                let distance = (other.residue % common + common - self.residue % common) % common;
                (distance < reach || common - distance < other_reach) && self.meets_modulo(width, other, other_width)
            }
        }
    }

    fn meets_modulo(self, width: u64, other: Class, other_width: u64) -> bool {
        let strides = greatest_common_divisor(self.stride, other.stride);
        let common = greatest_common_divisor(greatest_common_divisor(strides, self.step.into()), other.step.into());
        if common == strides {
            return true;
        }
        let distance = (other.residue % common + common - self.residue % common) % common;
        distance < width || common - distance < other_width
    }
}

impl From<Offset> for Class {
    fn from(offset: Offset) -> Class {
        match offset {
            Offset::At(at) => Class::at(at),
            Offset::Class { residue, stride } => Class { residue, stride, step: 0, count: 1 },
            Offset::Any => Class::ANY,
        }
    }
}

pub(super) fn greatest_common_divisor(mut left: u64, mut right: u64) -> u64 {
    while right != 0 {
        (left, right) = (right, left % right);
    }
    left
}

/// Locations by number: what the sets of the solver hold.
#[derive(Debug, Default)]
pub(super) struct LocationTable {
    locations: Vec<(AbstractObjectId, Class, Room)>,
    numbers: FxHashMap<(AbstractObjectId, Class, Room), u32>,
}

impl LocationTable {
    /// The number of a location, and whether it is new.
    pub fn number(&mut self, object: AbstractObjectId, class: Class, room: Room) -> (u32, bool) {
        let next = self.locations.len() as u32;
        let number = *self.numbers.entry((object, class, room)).or_insert(next);
        if number == next {
            self.locations.push((object, class, room));
        }
        (number, number == next)
    }

    pub fn contains(&self, object: AbstractObjectId, class: Class) -> bool {
        self.numbers.contains_key(&(object, class, Room::NONE))
    }

    pub fn get(&self, number: u32) -> (AbstractObjectId, Class) {
        let (object, class, _) = self.locations[number as usize];
        (object, class)
    }

    pub fn room(&self, number: u32) -> Room {
        self.locations[number as usize].2
    }

    pub fn len(&self) -> usize {
        self.locations.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contains(class: Class, offset: u64) -> bool {
        (0..u64::from(class.count)).any(|m| {
            let member = class.residue + m * u64::from(class.step);
            if class.stride == 0 { member == offset } else { member % class.stride == offset % class.stride }
        })
    }

    /// The definition: some pair of members, read for their widths, has a common byte.
    fn overlaps_by_definition(left: Class, width: u64, right: Class, other_width: u64) -> bool {
        let members = |class: Class| -> Vec<u64> { (0..240).filter(|&offset| contains(class, offset)).collect() };
        let (left, right) = (members(left), members(right));
        left.iter().any(|&a| right.iter().any(|&b| a < b + other_width && b < a + width))
    }

    #[test]
    fn overlap_is_what_its_definition_says() {
        for stride in [0, 1, 4, 6, 8, 16] {
            for other_stride in [0, 1, 4, 6, 8, 16] {
                for residue in 0..stride.max(20).min(if stride == 0 { 20 } else { stride }) {
                    for other_residue in 0..if other_stride == 0 { 20 } else { other_stride } {
                        // Single offsets lie in the middle, so that members of classes stand on both sides.
                        let place = |residue: u64, stride: u64| Class {
                            residue: if stride == 0 { residue + 96 } else { residue },
                            stride,
                            step: 0,
                            count: 1,
                        };
                        let (left, right) = (place(residue, stride), place(other_residue, other_stride));
                        for (width, other_width) in [(1, 1), (4, 8), (8, 4), (8, 8), (16, 1)] {
                            assert_eq!(
                                left.overlaps(width, right, other_width),
                                overlaps_by_definition(left, width, right, other_width),
                                "{left:?} for {width}, {right:?} for {other_width}"
                            );
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn widening_folds_an_array_by_its_stride() {
        let class = |residue, stride| Class { residue, stride, step: 0, count: 1 };
        assert_eq!(Class::at(40).widened(16), class(8, 16));
        assert_eq!(class(8, 16).widened(24), class(0, 8));
        assert_eq!(Class::at(40).widened(0), Class::at(40));
        assert_eq!(Class::at(8).plus(-16), None);
        assert_eq!(class(8, 16).plus(-16), Some(class(8, 16)));
        assert_eq!(class(8, 16).plus(-20), Some(class(4, 16)));
    }
    /// Classes with and without windows, reached as programs reach them.
    fn classes() -> Vec<Class> {
        let mut all = vec![Class::ANY];
        for start in [96, 100, 108] {
            for outer in [0, 16, 24, 48] {
                for (step, count) in [(1, 1), (4, 3), (8, 2), (2, 9), (16, 4)] {
                    let class = Class::at(start).widened(outer).windowed(step, count);
                    all.extend([class, class.windowed(4, 2), class.windowed(20, 2), class.widened(12)]);
                    all.extend(class.plus(-20));
                }
            }
        }
        all
    }

    #[test]
    fn windows_touch_whatever_their_members_touch() {
        let (mut told_apart, mut disjoint) = (0, 0);
        for &left in &classes() {
            for &right in &classes() {
                for (width, other_width) in [(1, 1), (4, 8), (8, 8)] {
                    let touches = left.overlaps(width, right, other_width);
                    let must_touch = overlaps_by_definition(left, width, right, other_width);
                    assert!(touches || !must_touch, "{left:?} {right:?}");
                    assert_eq!(touches, right.overlaps(other_width, left, width), "{left:?} {right:?}");
                    disjoint += usize::from(!must_touch);
                    told_apart += usize::from(!touches);
                }
            }
        }
        assert!(told_apart * 2 > disjoint, "{told_apart} of {disjoint}");
    }

    #[test]
    fn windows_keep_every_member() {
        for &class in &classes() {
            let members: Vec<u64> = (0..240).filter(|offset| contains(class, *offset)).collect();
            for (step, count) in [(4, 3), (24, 2), (3, 5)] {
                for by in [0, 8, -12] {
                    let Some(moved) = class.windowed(step, count).widened(48).plus(by) else { continue };
                    for member in
                        members.iter().flat_map(|member| (0..u64::from(count)).map(move |m| member + m * u64::from(step)))
                    {
                        let Some(member) = member.checked_add_signed(by) else { continue };
                        assert!(contains(moved, member) && contains(moved, member + 48) && contains(moved.flat(), member));
                    }
                }
            }
        }
    }
}
