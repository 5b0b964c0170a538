//! What is known at a point of a function: a small set of alternatives, each a lockset with what branches have shown.
//!
//! # Definition   An alternative is what some of the ways to the point have in common. Ways with equal locksets are one alternative, whose valuations
//!                are joined: facts about data are kept only as far as they go with what is held (property simulation).
//! # Paper        Das, Lerner, Seigle 2002.
//! # Deviations   More than [`MOST`] alternatives become one, by the meet of their locksets.

use std::rc::Rc;

use fixedbitset::FixedBitSet;

use super::identity::Identity;
use crate::facts::Valuation;
use crate::locks::{Family, LocksetId, Locksets, Sites};

/// More alternatives are not told apart.
const MOST: usize = 12;

/// One alternative.
#[derive(Debug, PartialEq)]
pub struct Alternative {
    pub lockset: LocksetId,
    pub sites: Sites,
    pub valuation: Valuation,
    /// What may have been released without being in the lockset.
    pub released: Released,
}

/// As it would be derived, but that sites are copied as a whole.
impl Clone for Alternative {
    fn clone(&self) -> Alternative {
        let sites = Sites::from_slice(&self.sites);
        Alternative { lockset: self.lockset, sites, valuation: self.valuation.clone(), released: self.released.clone() }
    }
}

impl Alternative {
    /// Keeps what the other valuation says, too. Whether something is lost.
    pub fn join(&mut self, other: &Valuation) -> bool {
        if self.valuation == *other {
            return false;
        }
        let joined = self.valuation.join(other);
        let is_lower = joined != self.valuation;
        self.valuation = joined;
        is_lower
    }
}

/// Families of locks that may have been released behind a caller's back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Released {
    /// Anything may have been.
    pub all: bool,
    families: Rc<FixedBitSet>,
}

impl Released {
    pub fn families(&self) -> impl Iterator<Item = Family> + '_ {
        self.families.ones().map(|family| Family(family as u32))
    }

    pub fn insert(&mut self, family: Family) {
        if family == Identity::ANYWHERE {
            self.all = true;
        } else if !self.families.contains(family.0 as usize) {
            Rc::make_mut(&mut self.families).grow_and_insert(family.0 as usize);
        }
    }

    /// Whether there is something new.
    pub fn absorb(&mut self, other: &Released) -> bool {
        let is_new = other.all && !self.all;
        self.all |= other.all;
        if Rc::ptr_eq(&self.families, &other.families) || other.families.is_subset(&self.families) {
            return is_new;
        }
        if self.families.is_subset(&other.families) {
            self.families = other.families.clone();
        } else {
            Rc::make_mut(&mut self.families).union_with(&other.families);
        }
        true
    }
}

/// The alternatives at one point.
#[derive(Clone, Debug, Default)]
pub struct State {
    pub alternatives: Vec<Alternative>,
    /// There were too many: one is left, and all that come are merged into it.
    is_merged: bool,
}

impl State {
    pub fn one(alternative: Alternative) -> State {
        State { alternatives: vec![alternative], is_merged: false }
    }

    /// Adds what holds on one more way. Whether that changed anything.
    pub fn add(&mut self, locksets: &mut Locksets, new: Alternative) -> bool {
        if self.is_merged {
            return self.merge(locksets, new);
        }
        if let Some(known) = self.alternatives.iter_mut().find(|known| known.lockset == new.lockset) {
            return known.released.absorb(&new.released) | known.join(&new.valuation);
        }
        // At most points there is one.
        if self.alternatives.is_empty() {
            self.alternatives.reserve_exact(1);
        }
        self.alternatives.push(new);
        if self.alternatives.len() > MOST {
            let all = std::mem::take(&mut self.alternatives);
            self.is_merged = true;
            for one in all {
                self.merge(locksets, one);
            }
        }
        true
    }

    fn merge(&mut self, locksets: &mut Locksets, new: Alternative) -> bool {
        let Some(known) = self.alternatives.first_mut() else {
            self.alternatives.push(new);
            return true;
        };
        let (lockset, sites) = locksets.meet_with_sites((known.lockset, &known.sites), new.lockset);
        let is_lower = lockset != known.lockset;
        if is_lower {
            (known.lockset, known.sites) = (lockset, sites);
        }
        known.released.absorb(&new.released) | known.join(&new.valuation) | is_lower
    }
}
