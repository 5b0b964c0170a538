//! Which lock is it? Places, families and terms of lock operands.
//!
//! # Definition   A *place* is an exact location of an object that stands for one run-time object: it protects by identity. A *family* is the set of
//!                locations an operand may point to. A lock without a place is named by its term.
//! # Theorem      Equal places are equal locks, places that differ are different locks; locks whose families have no location in common are different.

use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap};

use super::loads::{Loads, Table};
use crate::facts::{Facts, Location, Offset, TermId};
use crate::locks::{Family, Names, Place, Term};
use crate::program::{BlockId, Constant, FunctionId, Operand, Program, RegisterId};

/// What is known of a lock operand whatever the calling context.
#[derive(Clone, Debug)]
pub struct OperandLock {
    pub place: Option<Place>,
    pub term: Option<Term>,
    pub family: Family,
}

impl OperandLock {
    pub fn names(&self) -> Names {
        let mut names = Names { place: self.place, ..Names::default() };
        if let Some(term) = self.term {
            names.add_term(term);
        }
        names
    }
}

/// The tables behind the numbers that locksets use.
pub struct Identity<'a, 'p> {
    program: &'a Program,
    facts: &'a Facts<'p>,
    loads: Loads<'a, 'p>,
    places: IndexSet<Location, FxBuildHasher>,
    families: IndexSet<Vec<Location>, FxBuildHasher>,
    aliases: FxHashMap<(Family, Family), bool>,
    /// The first operand that a family was seen at: how people call it.
    spellings: FxHashMap<Family, (FunctionId, Operand)>,
    operands: FxHashMap<(FunctionId, Operand), OperandLock>,
}

impl<'a, 'p> Identity<'a, 'p> {
    /// The family of things that lie nowhere.
    pub const NOWHERE: Family = Family(0);
    /// The family of a pointer that was never given a value: it may be any lock, and is none for certain.
    pub const ANYWHERE: Family = Family(u32::MAX);
    /// The place of the one atomic section.
    pub const SECTION: Place = Place(u32::MAX);

    pub fn new(program: &'a Program, facts: &'a Facts<'p>) -> Identity<'a, 'p> {
        let families = IndexSet::from_iter([Vec::new()]);
        Identity {
            program,
            facts,
            loads: Loads::of(program, facts),
            places: IndexSet::default(),
            families,
            aliases: FxHashMap::default(),
            spellings: FxHashMap::default(),
            operands: FxHashMap::default(),
        }
    }

    /// The place at a location, if the location is exact and its object one run-time object.
    pub fn place(&mut self, location: Location) -> Option<Place> {
        let is_exact = matches!(location.offset, Offset::At(_));
        (is_exact && self.facts.is_one_object(location.object)).then(|| Place(self.places.insert_full(location).0 as u32))
    }

    pub fn location(&self, place: Place) -> Option<Location> {
        self.places.get_index(place.0 as usize).copied()
    }

    pub fn locations(&self, family: Family) -> &[Location] {
        if family == Identity::ANYWHERE { &[] } else { &self.families[family.0 as usize] }
    }

    /// How an operand spells a lock of the family.
    pub fn spelling(&self, family: Family) -> Option<(FunctionId, Operand)> {
        self.spellings.get(&family).copied()
    }

    /// What an operand names, whoever calls the function.
    pub fn operand(&mut self, function: FunctionId, operand: Operand) -> OperandLock {
        if let Some(known) = self.operands.get(&(function, operand)) {
            return known.clone();
        }
        if let Operand::Constant(constant) = operand
            && matches!(self.program.constants[constant], Constant::Undef(_) | Constant::Poison(_))
        {
            return OperandLock { place: None, term: None, family: Identity::ANYWHERE };
        }
        let mut locations: Vec<Location> = self.facts.points_to.pointees(function, operand).collect();
        locations.sort_unstable();
        locations.dedup();
        let place = match locations[..] {
            [location] => self.place(location),
            _ => None,
        };
        let family = Family(self.families.insert_full(locations).0 as u32);
        self.spellings.entry(family).or_insert((function, operand));
        let term = Some(Term(self.term(function, operand).number()));
        let lock = OperandLock { place, term, family };
        self.operands.insert((function, operand), lock.clone());
        lock
    }

    /// The term of an operand; loads of one value have one name in it.
    pub fn term(&mut self, function: FunctionId, operand: Operand) -> TermId {
        self.loads.term(function, operand)
    }

    /// If the register is loaded a fixed distance from the thread's argument, out of a table of different values: which one.
    pub fn entry_of_a_table(&mut self, function: FunctionId, register: RegisterId, argument: TermId) -> Option<Table> {
        self.loads.entry_of_a_table(function, register, argument)
    }

    /// Loads of a function that always give the same number: what they read is never written.
    pub fn fixed_loads(&self, function: FunctionId) -> Vec<(BlockId, RegisterId, u64)> {
        self.loads.fixed(function)
    }

    /// The place that lies so many bytes behind a location.
    pub fn shifted(&mut self, location: Location, by: i64) -> Option<Place> {
        let Offset::At(at) = location.offset else { return None };
        let at = at.checked_add_signed(by)?;
        self.place(Location { object: location.object, offset: Offset::At(at) })
    }

    /// Whether a lock of the family may be the one at a place.
    pub fn may_be(&self, family: Family, place: Place) -> bool {
        let Some(location) = self.location(place) else { return true };
        let is_there = |other: &Location| self.facts.points_to.may_alias(location, 1, *other, 1);
        family == Identity::ANYWHERE || self.locations(family).iter().any(is_there)
    }

    /// Whether locks of the two families may be one lock.
    pub fn may_alias(&mut self, left: Family, right: Family) -> bool {
        let key = (left.min(right), left.max(right));
        if let Some(known) = self.aliases.get(&key) {
            return *known;
        }
        if key.1 == Identity::ANYWHERE {
            return true;
        }
        let points_to = &self.facts.points_to;
        let (one, other) = (self.locations(left), self.locations(right));
        let answer = one.iter().any(|a| other.iter().any(|b| points_to.may_alias(*a, 1, *b, 1)));
        self.aliases.insert(key, answer);
        answer
    }
}
