//! What a thread knows of the handles of those that it has created and that may still run: where they are kept.
//!
//! # Definition   Of the live instances of a thread, all have their handles in cells of their own of one sweep, or all but the newest one; of the newest one, or of
//!                the only one, some places hold the handle.
//! # Deviations   Nothing is known of two that are in no array.

use std::collections::BTreeSet;

use super::state::{Place, Sweep};

#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(super) struct Handles {
    /// Each of these holds the handle of the newest instance. Without others: if there are any instances, one at most is live, and it is this.
    places: BTreeSet<Place>,
    /// Each live instance's handle is in a cell of its own among these.
    sweep: Option<Sweep>,
    /// The same of all but the newest; never beside `sweep`.
    others: Option<Sweep>,
}

impl Handles {
    /// One instance, whose handle was stored in a cell; that may be one of a sweep.
    pub fn of_one(cell: Place, sweep: Option<Sweep>) -> Handles {
        Handles { places: BTreeSet::from([cell]), sweep, others: None }
    }

    /// There is another instance, whose handle was stored in a cell.
    pub fn with_another(&self, cell: Place, sweep: Option<Sweep>) -> Handles {
        match &self.sweep {
            // Both are known only if both are in the array.
            Some(earlier) if sweep.as_ref() == Some(earlier) => Handles { sweep, ..Handles::default() },
            Some(earlier) => Handles { places: BTreeSet::from([cell]), sweep: None, others: Some(earlier.clone()) },
            None => Handles::default(),
        }
    }

    /// The newest instance was not created after all.
    pub fn forget_newest(&mut self) {
        if self.others.is_some() {
            *self = Handles { sweep: self.others.take(), ..Handles::default() };
        }
    }

    /// Whether all but the newest are in an array.
    pub fn has_others(&self) -> bool {
        self.others.is_some()
    }

    /// The handle of the newest instance was found in one of its places and stored in a cell; that may be one of a sweep.
    pub fn store(&mut self, cell: Place, sweep: Option<Sweep>) {
        if self.others.is_none() {
            self.places.insert(cell);
            if sweep.is_some() {
                self.sweep = sweep;
            }
        } else if self.others == sweep {
            *self = Handles { sweep, ..Handles::default() };
        } else {
            self.places.insert(cell);
        }
    }

    /// Whether a place holds the handle of the newest instance.
    pub fn newest_is_at(&self, place: &Place) -> bool {
        self.places.contains(place)
    }

    /// Whether a place holds the handle of the only instance.
    pub fn only_one_is_at(&self, place: &Place) -> bool {
        self.others.is_none() && self.places.contains(place)
    }

    /// The places that hold the handle of the only instance.
    pub fn places_of_only_one(&self) -> impl Iterator<Item = &Place> {
        self.places.iter().filter(|_| self.others.is_none())
    }

    /// Where all are.
    pub fn sweep(&self) -> Option<&Sweep> {
        self.sweep.as_ref()
    }

    /// The places of the newest one, each of which holds its handle.
    pub fn places_mut(&mut self) -> &mut BTreeSet<Place> {
        &mut self.places
    }

    pub fn forget_places(&mut self, is_forgotten: impl Fn(&Place) -> bool) {
        self.places.retain(|place| !is_forgotten(place));
    }

    pub fn forget_sweeps(&mut self, is_forgotten: impl Fn(&Sweep) -> bool) {
        if self.sweep.as_ref().is_some_and(&is_forgotten) {
            self.sweep = None;
        }
        if self.others.as_ref().is_some_and(&is_forgotten) {
            *self = Handles::default();
        }
    }

    /// What is known on both of two paths.
    pub fn meet(&mut self, other: &Handles) {
        if self == other {
            return;
        }
        let others = match (&self.others, &other.others) {
            (None, None) => None,
            (Some(left), Some(right)) if left != right => return *self = Handles::default(),
            // Where there is only one it is the newest; where all are in the array so are all but the newest.
            (Some(sweep), _) | (_, Some(sweep)) => Some(sweep.clone()),
        };
        let fits = |one: &Handles| one.others.is_some() || one.sweep.is_none() && !one.places.is_empty() || one.sweep == others;
        if others.is_some() && !(fits(self) && fits(other)) {
            return *self = Handles::default();
        }
        // Where all are in the array one of several is the newest, and nobody knows in which places.
        let is_of_newest = |one: &Handles| others.is_none() || one.others.is_some() || one.sweep.is_none();
        let both = if is_of_newest(self) && is_of_newest(other) { &self.places & &other.places } else { BTreeSet::new() };
        let sweep = self.sweep.take().filter(|sweep| others.is_none() && other.sweep.as_ref() == Some(sweep));
        *self = Handles { places: both, sweep, others };
    }
}
