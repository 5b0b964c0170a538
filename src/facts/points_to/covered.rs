//! Which objects have all of their locations in a set that is being filled: asked for each of very many locations.

use super::object::AbstractObjectId;

/// Begun anew for each set, without being cleared: what was noted in another round does not count.
#[derive(Debug, Default)]
pub(super) struct Covered {
    round: u32,
    /// By object: the round in which it was noted, and what.
    noted: Vec<(u32, bool)>,
}

impl Covered {
    /// Nothing is known of so many objects.
    pub fn begin(&mut self, objects: usize) {
        if self.round == u32::MAX {
            *self = Covered::default();
        }
        self.round += 1;
        if self.noted.len() < objects {
            self.noted.resize(objects.next_power_of_two(), (0, false));
        }
    }

    pub fn get_or_find(&mut self, object: AbstractObjectId, find: impl FnOnce() -> bool) -> bool {
        let (round, is_covered) = self.noted[object.index()];
        if round == self.round {
            return is_covered;
        }
        let is_covered = find();
        self.set(object, is_covered);
        is_covered
    }

    pub fn set(&mut self, object: AbstractObjectId, is_covered: bool) {
        self.noted[object.index()] = (self.round, is_covered);
    }
}
