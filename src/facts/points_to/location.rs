//! Locations: an abstract object and a class of byte offsets inside it.
//!
//! # Definition   Offsets r, r+s, r−s, … inside the object: the class (r, s), 0 ≤ r < s. s = 0 is the one offset r; s = 1 is any offset.
//! # Theorem      Classes (r, s) and (r′, s′), read for w and w′ bytes, touch a common byte of some object only if, with g = gcd(s, s′) and
//!                d = (r′ − r) mod g, d < w or g − d < w′ (with g = 0: the two ranges overlap).

use rustc_hash::FxHashMap;

use super::object::AbstractObjectId;

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

/// An [`Offset`] in the form that arithmetic likes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Class {
    pub residue: u64,
    /// 0 for a single offset, 1 for any.
    pub stride: u64,
}

impl Class {
    pub const ANY: Class = Class { residue: 0, stride: 1 };

    pub fn at(offset: u64) -> Class {
        Class { residue: offset, stride: 0 }
    }

    /// All offsets that differ from this class's by multiples of `stride`.
    pub fn widened(self, stride: u64) -> Class {
        let stride = greatest_common_divisor(self.stride, stride);
        Class { residue: if stride == 0 { self.residue } else { self.residue % stride }, stride }
    }

    /// The offsets `by` further on; `None` below the object's start.
    pub fn plus(self, by: i64) -> Option<Class> {
        match self.stride {
            0 => Some(Class::at(u64::try_from(i128::from(self.residue) + i128::from(by)).ok()?)),
            stride => {
                Some(Class { residue: (i128::from(self.residue) + i128::from(by)).rem_euclid(i128::from(stride)) as u64, stride })
            }
        }
    }

    pub fn offset(self) -> Offset {
        match self.stride {
            0 => Offset::At(self.residue),
            1 => Offset::Any,
            stride => Offset::Class { residue: self.residue, stride },
        }
    }

    /// Whether an access of `width` bytes here and one of `other_width` bytes there may touch a common byte.
    pub fn overlaps(self, width: u64, other: Class, other_width: u64) -> bool {
        match greatest_common_divisor(self.stride, other.stride) {
            0 => self.residue < other.residue.saturating_add(other_width) && other.residue < self.residue.saturating_add(width),
            common => {
                let distance = (other.residue % common + common - self.residue % common) % common;
                distance < width || common - distance < other_width
            }
        }
    }
}

impl From<Offset> for Class {
    fn from(offset: Offset) -> Class {
        match offset {
            Offset::At(at) => Class::at(at),
            Offset::Class { residue, stride } => Class { residue, stride },
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
    locations: Vec<(AbstractObjectId, Class)>,
    numbers: FxHashMap<(AbstractObjectId, Class), u32>,
}

impl LocationTable {
    /// The number of a location, and whether it is new.
    pub fn number(&mut self, object: AbstractObjectId, class: Class) -> (u32, bool) {
        let next = self.locations.len() as u32;
        let number = *self.numbers.entry((object, class)).or_insert(next);
        if number == next {
            self.locations.push((object, class));
        }
        (number, number == next)
    }

    pub fn get(&self, number: u32) -> (AbstractObjectId, Class) {
        self.locations[number as usize]
    }

    pub fn len(&self) -> usize {
        self.locations.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition: some pair of members, read for their widths, has a common byte.
    fn overlaps_by_definition(left: Class, width: u64, right: Class, other_width: u64) -> bool {
        let members = |class: Class| -> Vec<u64> { (0..240).filter(|&offset| class.offset().contains(offset)).collect() };
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
        assert_eq!(Class::at(40).widened(16), Class { residue: 8, stride: 16 });
        assert_eq!(Class { residue: 8, stride: 16 }.widened(24), Class { residue: 0, stride: 8 });
        assert_eq!(Class::at(40).widened(0), Class::at(40));
        assert_eq!(Class::at(8).plus(-16), None);
        assert_eq!(Class { residue: 8, stride: 16 }.plus(-16), Some(Class { residue: 8, stride: 16 }));
    }
}
