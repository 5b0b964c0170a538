//! What sets of locations must know of their members: which ones contain others, which are code, which fit a typed pointer.
//!
//! Everything is kept as sets of locations, so that sets are compared with them as wholes.

use std::rc::Rc;

use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;

use super::set::LocationSet;

/// The structures whose pointers an object fits (`typed`).
#[derive(Clone, Debug, Default)]
pub(super) struct Fit(Option<Rc<FixedBitSet>>);

impl Fit {
    pub fn all() -> Fit {
        Fit(None)
    }

    pub fn some(structures: FixedBitSet) -> Fit {
        Fit(Some(Rc::new(structures)))
    }

    fn contains(&self, structure: u16) -> bool {
        self.0.as_ref().is_none_or(|structures| structures.contains(structure.into()))
    }
}

#[derive(Debug, Default)]
pub(super) struct KnownLocations {
    /// By location: the one that contains it, anywhere in the object, if there is such a location; else itself.
    wholes: Vec<u32>,
    /// Locations that another one contains, and those that contain others.
    inside: LocationSet,
    containing: LocationSet,
    code: LocationSet,
    fits: Vec<Fit>,
    /// By what is pointed to, as far as somebody asked.
    fitting: FxHashMap<u16, LocationSet>,
}

impl KnownLocations {
    /// The next location, and the one that contains it.
    pub fn add(&mut self, whole: Option<u32>, is_code: bool, fit: Fit) {
        let number = self.wholes.len() as u32;
        self.wholes.push(whole.unwrap_or(number));
        if whole.is_some_and(|whole| whole != number) {
            self.inside.insert(number);
        }
        if is_code {
            self.code.insert(number);
        }
        for (structure, fitting) in &mut self.fitting {
            if fit.contains(*structure) {
                fitting.insert(number);
            }
        }
        self.fits.push(fit);
    }

    /// The location contains these others.
    pub fn contain(&mut self, whole: u32, others: &[u32]) {
        self.containing.insert(whole);
        for &location in others.iter().filter(|location| **location != whole) {
            self.wholes[location as usize] = whole;
            self.inside.insert(location);
        }
    }

    pub fn is_code(&self, location: u32) -> bool {
        self.code.contains(location)
    }

    pub fn without_code(&self, set: LocationSet) -> LocationSet {
        if set.meets(&self.code) { set.without(&self.code) } else { set }
    }

    /// The members that are code.
    pub fn only_code(&self, set: &LocationSet) -> LocationSet {
        set.common(&self.code)
    }

    pub fn fits(&self, location: u32, structure: u16) -> bool {
        self.fits[location as usize].contains(structure)
    }

    /// The members that fit a pointer to the structure, if not all do.
    pub fn only_fitting(&mut self, set: &LocationSet, structure: u16) -> Option<LocationSet> {
        let fits = &self.fits;
        let fitting = self.fitting.entry(structure).or_insert_with(|| {
            LocationSet::of((0..fits.len() as u32).filter(|location| fits[*location as usize].contains(structure)).collect())
        });
        (!set.is_within(fitting)).then(|| set.common(fitting))
    }

    pub fn contains_others(&self, location: u32) -> bool {
        self.containing.contains(location)
    }

    pub fn some_contain_others(&self, set: &LocationSet) -> bool {
        set.meets(&self.containing)
    }

    /// Whether one of the sets says with another location of the object all that this one would say.
    pub fn is_covered(&self, location: u32, by: &[&LocationSet]) -> bool {
        let whole = self.wholes[location as usize];
        whole != location && by.iter().any(|set| set.contains(whole))
    }

    /// The members that the sets say with another location of the object.
    pub fn covered(&self, set: &LocationSet, by: &[&LocationSet]) -> LocationSet {
        if !set.meets(&self.inside) {
            return LocationSet::default();
        }
        LocationSet::of(set.common(&self.inside).iter().filter(|location| self.is_covered(*location, by)).collect())
    }

    /// The members that the sets say nothing of.
    pub fn uncovered(&self, set: LocationSet, by: &[&LocationSet]) -> LocationSet {
        let covered = self.covered(&set, by);
        if covered.is_empty() { set } else { set.without(&covered) }
    }
}
