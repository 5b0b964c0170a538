//! What a tabulation of a program needs, and the tabulation itself: made once, for all engines that ask what is held.

use std::collections::BTreeSet;

use super::identity::Identity;
use super::kinds::Kinds;
use super::skeleton::{Skeletons, build};
use super::tabulate::{Collected, Tabulation};
use crate::deadline::{Deadline, OutOfTime};
use crate::facts::Facts;
use crate::models::BoundModels;
use crate::program::{BlockId, FunctionId, Program};

pub struct Prepared<'a, 'p> {
    program: &'a Program,
    facts: &'a Facts<'p>,
    skeletons: Skeletons,
    kinds: Kinds,
}

impl<'a, 'p> Prepared<'a, 'p> {
    /// `is_shared`: whether an instruction touches memory of which some engine wants to know what is held there.
    pub fn of(
        program: &'a Program,
        models: &BoundModels<'_>,
        facts: &'a Facts<'p>,
        is_shared: &dyn Fn(FunctionId, BlockId, usize) -> bool,
    ) -> Prepared<'a, 'p> {
        let skeletons = build(program, models, facts, is_shared);
        Prepared { program, facts, skeletons, kinds: Kinds::of(program, models, facts) }
    }

    /// What is held everywhere, and what was learnt on the way.
    pub fn solve(&self, deadline: Deadline) -> Result<(Tabulation<'_, 'p>, Collected), OutOfTime> {
        let (program, facts) = (self.program, self.facts);
        let tabulate = |tracked, identity| {
            let mut tabulation = Tabulation::new(program, facts, &self.skeletons, &self.kinds, tracked, identity, deadline);
            tabulation.solve()?;
            Ok(tabulation)
        };
        let mut tabulation = tabulate(BTreeSet::new(), Identity::new(program, facts))?;
        let held_at_creation = tabulation.held_at_creation();
        if !held_at_creation.is_empty() {
            // Some thread begins under a lock: whether it has taken that lock since is worth knowing.
            tabulation = tabulate(held_at_creation, tabulation.into_identity())?;
        }
        let collected = tabulation.collect();
        Ok((tabulation, collected))
    }
}
