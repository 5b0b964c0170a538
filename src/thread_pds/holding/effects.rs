//! What library calls do to a lockset.

use smallvec::SmallVec;

use super::action::{Action, ResultFact, result_facts};
use super::calls::CallAt;
use super::context::ContextKey;
use super::identity::Identity;
use super::passage::MOST_NAMES;
use super::state::{Alternative, State};
use super::tabulate::{Behind, Collected, CreationState, ReleaseState, Tabulation};
use crate::facts::{Knowledge, TermId, Valuation};
use crate::locks::{Family, Held, LocksetId, Mode, Moment, Names, Place, Sites, Term, Token, Working};
use crate::models::{Attempt, ResultConvention};
use crate::program::{BlockId, FunctionId, Operand, RegisterId, Scalar, SiteId, Type};

/// Counts beyond this are not kept: what is counted is a lower bound.
pub(super) const MOST_LEVELS: u8 = 8;

/// A lockset after an edge, and for each thing its position in the one before.
#[derive(Clone)]
pub struct Renamed {
    lockset: LocksetId,
    origins: SmallVec<[usize; 2]>,
}

/// The thing that is held inside atomic sections.
pub fn atomic_section() -> Held {
    special(Token::AtomicSection, Names::of_place(Identity::SECTION), Mode::Exclusive)
}

/// The thing that is held inside the routine of a one-time initialisation.
pub fn inside_once(control: Place) -> Held {
    special(Token::InsideOnce, Names::of_place(control), Mode::Exclusive)
}

pub(super) fn special(token: Token, names: Names, mode: Mode) -> Held {
    Held { token, names, family: Identity::NOWHERE, mode, count: 1, since: None }
}

impl Tabulation<'_, '_> {
    /// All that may hold after the steps of a library call.
    pub(in crate::thread_pds) fn perform(
        &mut self,
        at: &CallAt<'_>,
        actions: &[Action],
        before: Alternative,
        mut collected: Option<&mut Collected>,
    ) -> Vec<Alternative> {
        let mut current = vec![before];
        for action in actions {
            let mut next = Vec::new();
            for alternative in current {
                self.step(at, action, alternative, collected.as_deref_mut(), &mut next);
            }
            current = next;
        }
        current
    }

    fn step(
        &mut self,
        at: &CallAt<'_>,
        action: &Action,
        before: Alternative,
        mut collected: Option<&mut Collected>,
        next: &mut Vec<Alternative>,
    ) {
        if let Some(collected) = collected.as_deref_mut() {
            self.note_release(at, action, collected);
        }
        match action {
            Action::Acquire { lock, mode, attempt, convention, is_read_write } => {
                self.acquire(at, *lock, (*mode, *is_read_write), *attempt, *convention, before, next);
            }
            Action::Release { lock, is_read_write } => {
                let (names, family) = self.lock_names(at.key, *lock);
                let mut after = before;
                let mut working = self.working(&after);
                let was_held = working.give_back(Token::Lock, &names);
                if !was_held && let Some(collected) = collected {
                    collected.tainted.insert(family);
                }
                // Where a second acquisition may have failed, two things may be one level.
                if !was_held || *is_read_write || self.kinds.may_fail_when_held(self.identity.locations(family)) {
                    self.lose(&mut working, &mut after, &names, family);
                }
                next.push(self.with(after, working));
            }
            Action::Forget { lock } => {
                let (names, family) = self.lock_names(at.key, *lock);
                let mut after = before;
                let mut working = self.working(&after);
                working.retain(|held| held.token != Token::Lock || !held.names.agree(&names));
                self.lose(&mut working, &mut after, &names, family);
                next.push(self.with(after, working));
            }
            Action::Wait { lock } => {
                let (names, family) = self.lock_names(at.key, *lock);
                let mut after = before;
                let mut working = self.working(&after);
                match working.position(Token::Lock, &names) {
                    // Released in between: what began under it no longer waits for us.
                    Some(position) => working.items[position].0.since = None,
                    None => {
                        if let Some(collected) = collected {
                            collected.tainted.insert(family);
                        }
                        self.lose(&mut working, &mut after, &names, family);
                    }
                }
                next.push(self.with(after, working));
            }
            Action::BeginAtomic => {
                let mut working = self.working(&before);
                working.take(atomic_section(), Some(at.site));
                next.push(self.with(before, working));
            }
            Action::EndAtomic => {
                let mut working = self.working(&before);
                working.give_back(Token::AtomicSection, &Names::of_place(Identity::SECTION));
                next.push(self.with(before, working));
            }
            Action::Once { control, routines } => self.once(at, *control, routines, before, next),
            Action::Callback { routines } => self.callback(at, routines, before, next),
            Action::SaveJump => {
                let again = self.second_return(at, before.clone());
                next.push(self.learn(at, before, ResultFact::Equal(0)));
                next.extend(again.map(|again| self.learn(at, again, ResultFact::NotEqual(0))));
            }
            Action::Jump => self.jump(&before),
            Action::WaitForPermit { semaphore, attempt, worked, failed } => {
                self.wait_for_permit(at, (*semaphore, *attempt), (*worked, *failed), before, next);
            }
            Action::PostPermit { semaphore, .. } => next.push(self.post_permit(at, *semaphore, before, collected)),
            Action::ResetPermits { semaphore, .. } => next.push(self.reset_permits(at, *semaphore, before)),
            Action::RunUnknown => next.push(self.lose_all(before)),
            Action::Create { .. } => {
                if let Some(collected) = collected {
                    let held = self.locksets.get(before.lockset).iter().filter(|held| held.token == Token::Lock);
                    collected.held_at_creation.extend(held.filter_map(|held| held.names.place));
                    let CallAt { context, block, index, .. } = *at;
                    collected.creations.push(CreationState { context, block, index, lockset: before.lockset });
                }
                next.push(before);
            }
            Action::Join => next.push(before),
            Action::End { .. } => {}
        }
    }

    /// Where locks may be released.
    fn note_release(&mut self, at: &CallAt<'_>, action: &Action, collected: &mut Collected) {
        let lock = match action {
            Action::Release { lock, .. } | Action::Forget { lock } | Action::Wait { lock } => {
                let (names, family) = self.lock_names(at.key, *lock);
                Some((names.place, family))
            }
            Action::SaveJump | Action::RunUnknown => None,
            Action::Acquire { .. }
            | Action::BeginAtomic
            | Action::EndAtomic
            | Action::Once { .. }
            | Action::Callback { .. }
            | Action::Create { .. }
            | Action::Join
            | Action::Jump
            | Action::WaitForPermit { .. }
            | Action::PostPermit { .. }
            | Action::ResetPermits { .. }
            | Action::End { .. } => return,
        };
        let CallAt { context, block, index, .. } = *at;
        collected.releases.push(ReleaseState { context, block, index, lock });
    }

    #[allow(clippy::too_many_arguments)]
    fn acquire(
        &mut self,
        at: &CallAt<'_>,
        lock: Operand,
        (mode, is_read_write): (Mode, bool),
        attempt: Attempt,
        convention: ResultConvention,
        before: Alternative,
        next: &mut Vec<Alternative>,
    ) {
        let (names, family) = self.lock_names(at.key, lock);
        if names.is_empty() {
            // Some lock is taken: nothing is certain of it.
            if mode == Mode::Shared {
                self.locksets.lose(family);
            }
            next.push(before);
            return;
        }
        let (worked, failed) = result_facts(convention);
        let may_fail_when_held = is_read_write || self.kinds.may_fail_when_held(self.identity.locations(family));
        let mut working = self.working(&before);
        let known = working.get(Token::Lock, &names).map(|held| held.mode);
        let is_refused = known.is_none() && mode == Mode::Exclusive && is_read_write && attempt == Attempt::Blocking;
        // Whoever may hold it shared is refused, goes on, and holds it shared.
        let mode = if is_refused && self.may_be_lost(at, family) { Mode::Shared } else { mode };
        match (known, attempt) {
            (None, _) => {
                let since = Some(self.moment(at));
                let held = Held { token: Token::Lock, names: names.clone(), family, mode, count: 1, since };
                working.take(held, Some(at.site));
                self.note_first(&mut working, &names, mode);
                let after = self.with(before.clone(), working);
                if attempt == Attempt::Blocking {
                    // A lock that says so when its owner comes again is held in either case.
                    let fact = if may_fail_when_held { ResultFact::Nothing } else { worked };
                    next.push(self.learn(at, after, fact));
                } else {
                    next.push(self.learn(at, after, worked));
                    next.push(self.learn(at, before, failed));
                }
            }
            // Shared and shared again: one more level.
            (Some(Mode::Shared), _) if is_read_write && mode == Mode::Shared => {
                self.one_more_level(&mut working, &names);
                let after = self.with(before.clone(), working);
                next.push(self.learn(at, after, worked));
                if attempt != Attempt::Blocking {
                    next.push(self.learn(at, before, failed));
                }
            }
            (Some(_), _) if is_read_write => next.push(self.learn(at, before, failed)),
            (Some(_), Attempt::Blocking) if may_fail_when_held => next.push(before),
            (Some(_), _) => {
                // A recursive lock counts; a normal one blocks for ever, or says that it is taken.
                self.one_more_level(&mut working, &names);
                let after = self.with(before.clone(), working);
                next.push(self.learn(at, after, worked));
                if attempt != Attempt::Blocking {
                    next.push(self.learn(at, before, failed));
                }
            }
        }
    }

    /// Whether a thread may hold a lock of this family shared without any set saying so; the block is looked at again when more are lost.
    fn may_be_lost(&mut self, at: &CallAt<'_>, family: Family) -> bool {
        self.upgrades.insert((at.context, at.block));
        let lost: SmallVec<[Family; 4]> = self.locksets.lost().collect();
        lost.into_iter().any(|other| self.identity.may_alias(other, family))
    }

    /// Now, in the order of threads.
    pub(super) fn moment(&self, at: &CallAt<'_>) -> Moment {
        self.phase(at).map_or(Moment::HERE, |phase| Moment(phase.index() as u32))
    }

    fn one_more_level(&mut self, working: &mut Working, names: &Names) {
        if let Some(position) = working.position(Token::Lock, names) {
            let count = &mut working.items[position].0.count;
            *count = (*count + 1).min(MOST_LEVELS);
        }
    }

    /// The thread has taken the lock: who held it since before the thread began has released it.
    fn note_first(&mut self, working: &mut Working, names: &Names, mode: Mode) {
        let Some(place) = names.place.filter(|place| self.tracked.contains(place)) else { return };
        let names = Names::of_place(place);
        match working.position(Token::Acquired, &names) {
            Some(position) => working.items[position].0.mode = working.items[position].0.mode.max(mode),
            None => working.items.push((special(Token::Acquired, names, mode), None)),
        }
    }

    /// The routine runs at most once, and has run when the call returns.
    fn once(
        &mut self,
        at: &CallAt<'_>,
        control: Operand,
        routines: &[FunctionId],
        before: Alternative,
        next: &mut Vec<Alternative>,
    ) {
        let place = self.lock_names(at.key, control).0.place;
        let inside = place.map(inside_once);
        let mut after = vec![before.clone()];
        for routine in routines {
            after.extend(self.call_body(at, &before, *routine, &[], None, inside.clone()).outcomes);
        }
        for alternative in after {
            let mut working = self.working(&alternative);
            if let Some(place) = place
                && working.get(Token::OnceDone, &Names::of_place(place)).is_none()
            {
                working.items.push((special(Token::OnceDone, Names::of_place(place), Mode::Exclusive), None));
            }
            next.push(self.with(alternative, working));
        }
    }

    /// The routines run any number of times: whatever holds after one of them holds before the next.
    fn callback(&mut self, at: &CallAt<'_>, routines: &[FunctionId], before: Alternative, next: &mut Vec<Alternative>) {
        let mut all = State::one(before);
        let mut is_new = true;
        while is_new {
            is_new = false;
            for alternative in all.alternatives.clone() {
                for routine in routines {
                    // What the library hands to them is not known here.
                    for after in self.call_body(at, &alternative, *routine, &[], None, None).outcomes {
                        is_new |= all.add(&mut self.locksets, after);
                    }
                }
            }
        }
        next.extend(all.alternatives);
    }

    pub(super) fn working(&self, alternative: &Alternative) -> Working {
        Working::of(self.locksets.get(alternative.lockset), &alternative.sites)
    }

    pub(super) fn with(&mut self, mut alternative: Alternative, working: Working) -> Alternative {
        (alternative.lockset, alternative.sites) = working.seal(&mut self.locksets);
        alternative
    }

    /// The alternative in which the call's result is so.
    pub(super) fn learn(&self, at: &CallAt<'_>, mut alternative: Alternative, fact: ResultFact) -> Alternative {
        let Some(result) = at.call.result else { return alternative };
        let bits = match self.program.functions[at.key.function].registers[result].ty {
            Type::Scalar(Scalar::Integer(bits)) if bits <= 64 => bits,
            _ => return alternative,
        };
        let wrapped = |value: i64| if bits == 64 { value as u64 } else { value as u64 & ((1 << bits) - 1) };
        let knowledge = match fact {
            ResultFact::Equal(value) => Knowledge::Equal(wrapped(value)),
            ResultFact::NotEqual(value) => Knowledge::not_equal(wrapped(value)),
            ResultFact::Nothing => return alternative,
        };
        alternative.valuation.forget(result);
        alternative.valuation.state(result, knowledge);
        alternative
    }

    /// Forgets every lock that may be the one of this name, here and in the callers.
    fn lose(&mut self, working: &mut Working, alternative: &mut Alternative, names: &Names, family: Family) {
        let identity = &mut self.identity;
        working.retain(|held| held.token != Token::Lock || held.names.differ(names) || !identity.may_alias(held.family, family));
        alternative.released.insert(family);
    }

    /// Forgets every lock: what was held is not known.
    pub(super) fn lose_all(&mut self, mut alternative: Alternative) -> Alternative {
        let mut working = self.working(&alternative);
        working.retain(|held| matches!(held.token, Token::OnceDone | Token::OwnArgument | Token::Acquired | Token::Handed));
        alternative.released.all = true;
        self.with(alternative, working)
    }

    /// The names of a lock operand in a context.
    pub fn lock_names(&mut self, key: &ContextKey, operand: Operand) -> (Names, Family) {
        let known = self.identity.operand(key.function, operand);
        let mut names = known.names();
        if names.place.is_none()
            && key.is_told_apart()
            && let Some(location) = self.exact_location(key, operand)
        {
            names.place = self.identity.place(location);
        }
        (names, known.family)
    }

    /// The thread's own argument, in the names of its entry.
    pub(super) fn own_argument(&self, entry: FunctionId) -> Option<Held> {
        let parameter = self.program.functions[entry].parameters.first()?;
        let term = self.facts.values.term(entry, Operand::Register(parameter.register));
        Some(special(Token::OwnArgument, Names::of_term(Term(term.number())), Mode::Exclusive))
    }

    /// Whether something in a lockset is called by a register.
    pub(in crate::thread_pds) fn is_named_by(&self, lockset: LocksetId, register: RegisterId) -> bool {
        let depends = |term: &Term| self.facts.values.depends_on(TermId::from_number(term.0), register);
        self.locksets.get(lockset).iter().any(|held| held.names.terms.iter().any(depends))
    }

    /// A register gets a new value: names that depend on the old one are gone.
    pub(in crate::thread_pds) fn define(&mut self, state: &mut State, register: RegisterId) {
        if !state.alternatives.iter().any(|alternative| self.is_named_by(alternative.lockset, register)) {
            return;
        }
        let values = &self.facts.values;
        let depends = |term: &Term| values.depends_on(TermId::from_number(term.0), register);
        let mut after = State::default();
        for alternative in std::mem::take(&mut state.alternatives) {
            let mut working = self.working(&alternative);
            working.change_terms(|terms| terms.iter().filter(|term| !depends(term)).copied().collect());
            let moved = self.with(alternative, working);
            after.add(&mut self.locksets, moved);
        }
        *state = after;
    }

    /// What holds at the start of the next block when control goes there; nothing when it cannot.
    pub(in crate::thread_pds) fn follow(
        &mut self,
        function: FunctionId,
        from: BlockId,
        to: BlockId,
        alternative: &Alternative,
    ) -> Option<Alternative> {
        let valuation = match alternative.valuation.is_empty() {
            true => match self.from_nothing.get(&(function, from, to)) {
                Some(known) => known.valuation(),
                None => {
                    let known = self.valuation_behind(function, from, to, Valuation::default());
                    self.from_nothing.insert((function, from, to), Behind::of(known.clone()));
                    known
                }
            },
            false => self.valuation_behind(function, from, to, alternative.valuation.clone()),
        };
        let (lockset, sites, released) =
            (alternative.lockset, Sites::from_slice(&alternative.sites), alternative.released.clone());
        let mut after = Alternative { lockset, sites, valuation: valuation?, released };
        self.rename(function, from, to, &mut after);
        Some(after)
    }

    /// What is known behind an edge; nothing when it cannot be taken.
    fn valuation_behind(&mut self, function: FunctionId, from: BlockId, to: BlockId, before: Valuation) -> Option<Valuation> {
        let mut after = before;
        let definitions = self.definitions(function);
        if !after.assume(&definitions, from, to) {
            return None;
        }
        after.enter(&definitions, from, to);
        let usefulness = self.usefulness(function);
        after.retain(|register| usefulness[to].contains(register.into()));
        Some(after)
    }

    /// All phis of a block get their values at once: the old ones are gone, and what has the value of an operand has the phi's name too.
    fn rename(&mut self, function: FunctionId, from: BlockId, to: BlockId, alternative: &mut Alternative) {
        let target = &self.program.functions[function].blocks[to];
        let has_terms = || self.locksets.get(alternative.lockset).iter().any(|held| !held.names.terms.is_empty());
        if target.phis.is_empty() || !has_terms() {
            return;
        }
        let edge = (function, from, to, alternative.lockset);
        let renamed = match self.renamed.get(&edge) {
            Some(known) => known.clone(),
            None => {
                let renamed = self.renamed_lockset(function, from, to, alternative.lockset);
                self.renamed.insert(edge, renamed.clone());
                renamed
            }
        };
        alternative.lockset = renamed.lockset;
        alternative.sites = renamed.origins.iter().map(|origin| alternative.sites[*origin]).collect();
    }

    fn renamed_lockset(&mut self, function: FunctionId, from: BlockId, to: BlockId, lockset: LocksetId) -> Renamed {
        let target = &self.program.functions[function].blocks[to];
        let position = target.predecessors.iter().position(|block| *block == from).expect("an edge leads from a predecessor");
        let values = &self.facts.values;
        let pairs: SmallVec<[(TermId, TermId); 4]> = target
            .phis
            .iter()
            .map(|phi| {
                (self.identity.term(function, phi.operands[position]), values.term(function, Operand::Register(phi.result)))
            })
            .collect();
        let is_old = |term: &Term| target.phis.iter().any(|phi| values.depends_on(TermId::from_number(term.0), phi.result));
        let set = self.locksets.get(lockset);
        // Each thing is marked with its position, to find where it was taken.
        let marks = (0..set.len()).map(|position| Some(SiteId::from(position))).collect();
        let mut working = Working::of(set, &marks);
        working.change_terms(|terms| {
            let renamed = terms.iter().flat_map(|term| {
                let term = TermId::from_number(term.0);
                pairs.iter().filter_map(move |pair| values.rebase(term, &[*pair]))
            });
            let mut names: SmallVec<[Term; 2]> = renamed.map(|term| Term(term.number())).collect();
            names.extend(terms.iter().filter(|term| !is_old(term)).copied());
            names.sort_unstable();
            names.dedup();
            names.truncate(MOST_NAMES);
            names
        });
        let (lockset, marks) = working.seal(&mut self.locksets);
        Renamed { lockset, origins: marks.iter().map(|mark| usize::from(mark.expect("every thing is marked"))).collect() }
    }
}
