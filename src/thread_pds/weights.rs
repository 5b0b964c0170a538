//! Sets of minimal lock histories as a semiring.

use crate::locks::history::{HistorySets, SetId};
use crate::pushdown::Semiring;

/// ⊕ is the union of sets, ⊗ the composition of their histories, and minimal ones are kept.
pub struct Histories<'a>(pub &'a mut HistorySets);

impl Semiring for Histories<'_> {
    type Weight = SetId;

    fn zero(&self) -> SetId {
        SetId::NONE
    }

    fn one(&self) -> SetId {
        SetId::EMPTY_PATH
    }

    fn combine(&mut self, left: &SetId, right: &SetId) -> SetId {
        self.0.combine(*left, *right)
    }

    fn extend(&mut self, first: &SetId, then: &SetId) -> SetId {
        self.0.extend(*first, *then)
    }
}
