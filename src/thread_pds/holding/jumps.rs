//! What is held when `setjmp` returns for the second time.
//!
//! # Definition   J: the locks by place that are held wherever a `longjmp` of the program is called, in all contexts.
//! # Theorem      After a second return the thread holds J: it is the thread that has jumped, a jump takes and releases nothing, and a place stands
//!                for one lock wherever it is named. What was called by terms is lost with the functions that were left.
//! # Deviations   Which buffer a jump uses is not looked at. A program without a jump of its own may be returned to by unknown code: with nothing held.

use std::collections::{BTreeMap, BTreeSet};

use super::action::Action;
use super::calls::CallAt;
use super::context::ContextId;
use super::skeleton::{EventKind, Skeletons, Target};
use super::state::Alternative;
use super::tabulate::Tabulation;
use crate::locks::{Held, Place, Token};
use crate::program::BlockId;

#[derive(Default)]
pub(super) struct Jumps {
    /// Some function of the program jumps.
    has_own: bool,
    /// J of the jumps that were come to; `None` before the first.
    held: Option<BTreeMap<Place, Held>>,
    /// The blocks that may be returned to.
    returns: BTreeSet<(ContextId, BlockId)>,
}

impl Jumps {
    pub fn of(skeletons: &Skeletons) -> Jumps {
        let jumps = |target: &Target| matches!(target, Target::Library(actions) if actions.contains(&Action::Jump));
        let mut events = skeletons.iter().flat_map(|skeleton| skeleton.blocks.iter().flatten());
        let has_own = events.any(|event| matches!(&event.kind, EventKind::Call(call) if call.targets.iter().any(jumps)));
        Jumps { has_own, ..Jumps::default() }
    }
}

impl Tabulation<'_, '_> {
    /// A jump: what is held here is held where it leads.
    pub(super) fn jump(&mut self, from: &Alternative) {
        let locks = self.locksets.get(from.lockset).iter().filter(|held| held.token == Token::Lock);
        let held: BTreeMap<Place, Held> = locks.filter_map(|held| Some((held.names.place?, held.clone()))).collect();
        let met = match &self.jumps.held {
            None => held,
            Some(known) => {
                let both = known.iter().filter_map(|(place, one)| Some((*place, one.meet(held.get(place)?)?)));
                both.collect()
            }
        };
        if self.jumps.held.as_ref() != Some(&met) {
            self.jumps.held = Some(met);
            for (context, block) in self.jumps.returns.clone() {
                self.plan(context, block);
            }
        }
    }

    /// The second return of a `setjmp`; nothing as long as no jump is known.
    pub(super) fn second_return(&mut self, at: &CallAt<'_>, before: Alternative) -> Option<Alternative> {
        let mut again = before;
        again.valuation = Default::default();
        let again = self.lose_all(again);
        if !self.jumps.has_own {
            return Some(again);
        }
        self.jumps.returns.insert((at.context, at.block));
        let held = self.jumps.held.clone()?;
        let mut working = self.working(&again);
        for (place, lock) in held {
            let names = crate::locks::Names::of_place(place);
            working.take(Held { names, since: None, count: 1, ..lock }, None);
        }
        Some(self.with(again, working))
    }
}
