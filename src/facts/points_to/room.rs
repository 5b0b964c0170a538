//! Rooms: how far may arithmetic move an address in the array that it points into?
//!
//! # Definition   The room of a location are the bytes of its array before its first place, and from there on, for an array that is a member of a structure
//!                (`OffsetTarget`); the last member may go on to the end of the object. An address that was not counted from such an array has none.
//! # Theorem      Addresses that a program without undefined behaviour computes by adding multiples of the elements' size to one with a room lie in the room, or just behind it (C17 6.5.6p8), and
//!                what a copy of unknown size reads or writes from there on lies in it, too.
//! # Example      `struct { char name[16]; struct s *next; }`: what walks through `name`, or is copied into it, never touches `next`.
//! # Deviations   1. An address that is moved by anything but whole elements has no room any more: `container_of`, and structures that are walked through as bytes.  2. Arrays in arrays are
//!                one: programs walk through them as one.  3. A place that stands for several (elements of another array) has one room around each.
//! # Misses       What a program without defined behaviour moves: a copy of computed size that begins at a structure's first array and means the whole structure. No
//!                assumption tells of it; a copy of a fixed size that is too large for the array is followed.

use super::location::{Class, greatest_common_divisor};
use crate::program::OffsetTarget;

/// In bytes, counted from the first place of a window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Room {
    before: u32,
    after: u32,
    /// 0 where there is no room.
    element: u32,
}

impl Room {
    pub const NONE: Room = Room { before: 0, after: 0, element: 0 };

    /// Of what an address computation addresses, when its base has this room, and so many bytes are added.
    pub fn addressed(self, constant: i64, target: OffsetTarget) -> Room {
        match target {
            OffsetTarget::Moved => self.moved(constant),
            OffsetTarget::Member => Room::NONE,
            OffsetTarget::Array { before, after, element } => {
                let outer = self.moved(constant);
                // An array in an array.
                let is_inside = outer.element > 0 && outer.before >= before && outer.after >= after;
                if is_inside { Room { element, ..outer } } else { Room { before, after, element } }
            }
        }
    }

    /// The same room, seen from so many bytes further on.
    pub fn moved(self, by: i64) -> Room {
        let is_open = self.after == OffsetTarget::OPEN;
        let before = i64::from(self.before).checked_add(by);
        let after = if is_open { Some(self.after.into()) } else { i64::from(self.after).checked_sub(by) };
        let bytes = |bytes: Option<i64>| bytes.and_then(|bytes| u32::try_from(bytes).ok());
        match (bytes(before), bytes(after)) {
            (Some(before), Some(after)) if self.element > 0 => Room { before, after, ..self },
            _ => Room::NONE,
        }
    }

    /// The bytes from the first place on that a copy may touch.
    pub fn after(self) -> Option<u64> {
        (self.element > 0).then_some(self.after.into())
    }

    /// The bytes of the array before the first place, and from there on, where both are known: what is moved by multiples of `stride` stays there.
    pub fn around(self, stride: u64) -> Option<(u64, u64)> {
        let is_bounded = self.element > 0 && stride.is_multiple_of(self.element.into()) && self.after < OffsetTarget::OPEN;
        is_bounded.then_some((self.before.into(), self.after.into()))
    }

    /// The class that is moved by any multiples of `stride`, and in steps; and the room around it. Without a room nothing bounds them but the object.
    pub fn walk(self, class: Class, stride: u64, (step, count): (u32, u32)) -> (Class, Room) {
        let unit = [u64::from(step), class.step.into()].into_iter().fold(stride, greatest_common_divisor);
        let is_whole = |bytes: u64| self.element > 0 && bytes.is_multiple_of(self.element.into());
        if stride == 0 && count == 1 {
            return (class, self);
        }
        if stride == 0 && class.count == 1 {
            return (class.windowed(step, count), self);
        }
        let unbounded = || (class.widened(stride).windowed(step, count), Room::NONE);
        let Some(unit) = u32::try_from(unit).ok().filter(|_| is_whole(stride) && (count == 1 || is_whole(step.into()))) else {
            return unbounded();
        };
        let back = self.before / unit * unit;
        let Some(first) = class.first().plus(-i64::from(back)) else { return unbounded() };
        // One element behind the last: programs compare with it.
        let places = (back + self.after) / unit + 1;
        let walked = first.windowed(unit, places);
        match (walked.count, walked.step) == (places, unit) || places == 1 {
            true => (walked, Room { before: self.before - back, after: (self.after + back).min(OffsetTarget::OPEN), ..self }),
            false => (walked, Room::NONE),
        }
    }

    /// The places of a walk that lie in an object of this size, or just behind it.
    pub fn inside(self, class: Class, size: u64) -> Class {
        match size.checked_sub(class.residue) {
            Some(bytes) if class.stride == 0 && class.count > 1 && bytes < class.reach() => {
                let places = bytes / u64::from(class.step) + 1;
                class.first().windowed(class.step, u32::try_from(places).expect("a window becomes smaller"))
            }
            _ => class,
        }
    }

    /// The places of a walk at which so many bytes can be accessed.
    pub fn accessible(self, class: Class, width: u64) -> Class {
        if self.element == 0 || class.count == 1 || width > self.after.into() {
            return class;
        }
        let places = (u64::from(self.after) - width) / u64::from(class.step) + 1;
        match u32::try_from(places) {
            Ok(places) if places < class.count => class.first().windowed(class.step, places),
            _ => class,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAME: OffsetTarget = OffsetTarget::Array { before: 0, after: 16, element: 1 };

    #[test]
    fn a_walk_stays_in_the_array_and_comes_to_its_end() {
        let room = Room::NONE.addressed(8, NAME);
        let (walked, around) = room.walk(Class::at(8), 1, (0, 1));
        assert_eq!(walked, Class::at(8).windowed(1, 17));
        assert_eq!(around.walk(walked, 1, (0, 1)), (walked, around));
        assert_eq!(around.accessible(walked, 1), Class::at(8).windowed(1, 16));
        assert_eq!(around.accessible(walked, 8), Class::at(8).windowed(1, 9));
        assert_eq!(room.moved(4).walk(Class::at(12), 1, (0, 1)), (walked, around));
    }

    #[test]
    fn what_leaves_the_array_has_no_room() {
        let room = Room::NONE.addressed(8, NAME);
        assert_eq!(room.moved(-8), Room::NONE);
        assert_eq!(room.moved(17), Room::NONE);
        assert_eq!(room.addressed(0, OffsetTarget::Member), Room::NONE);
        let pairs = Room::NONE.addressed(0, OffsetTarget::Array { before: 0, after: 64, element: 16 });
        assert_eq!(pairs.walk(Class::at(0), 8, (0, 1)), (Class::at(0).widened(8), Room::NONE));
    }

    #[test]
    fn arrays_in_arrays_are_one() {
        let rows = Room::NONE.addressed(8, OffsetTarget::Array { before: 0, after: 64, element: 16 });
        let row = rows.addressed(0, OffsetTarget::Array { before: 0, after: 16, element: 4 });
        assert_eq!(row.walk(Class::at(8), 4, (0, 1)).0, Class::at(8).windowed(4, 17));
    }

    #[test]
    fn elements_of_an_outer_array_have_a_room_each() {
        let room = Room::NONE.addressed(8, NAME);
        let places = Class::at(8).widened(40);
        assert_eq!(room.walk(places, 1, (0, 1)).0, places.windowed(1, 17));
        // Where the rooms touch nothing is told apart.
        assert_eq!(room.walk(Class::at(8).widened(16), 1, (0, 1)), (Class::ANY, Room::NONE));
    }
}
