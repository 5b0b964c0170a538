//! From verdicts on classes to what is said of objects: candidates line by line, refuted pairs in groups, what protects what.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use indexmap::{IndexMap, IndexSet};
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

use super::arguments::Arguments;
use super::cover::{Covers, Item, LockKey};
use super::listed::Listed;
use super::names::Names;
use super::on_lines::{OnLine, OnLines};
use super::order::{Orders, Overlap, Point};
use super::pairs::{Judged, Verdict, Why, open_points};
use super::reach::Reach;
use super::record::{Class, ClassKey, Member, Records};
use super::refuted_groups::{ByFunction, RefutedGroups};
use super::result::{
    Candidate, CandidateKey, LockHeld, Protection, QuietCounts, RaceLimit, RaceResult, RefutedGroup, Side, one_for_each_place,
};
use super::words::{of_library, reason_of};
use crate::deadline::Deadline;
use crate::facts::accesses::WHOLE;
use crate::facts::{AbstractObjectId, AbstractObjectKind, Facts, Location, Offset, OrderReason};
use crate::program::{Program, SiteId};
use crate::thread_pds::holding::{AccessState, Identity, Tabulation};

/// More states of one access are not compared for the best one to show.
const MOST_STATES: usize = 16;

pub struct Reporter<'a, 'f, 'p> {
    pub program: &'a Program,
    pub facts: &'a Facts<'p>,
    pub tabulation: &'a Tabulation<'a, 'p>,
    pub records: &'a Records,
    pub covers: &'a Covers<'a, 'p>,
    pub states: &'a [AccessState],
    pub reach: &'a mut Reach,
    pub orders: &'a mut Orders<'f, 'p>,
    arguments: &'a Arguments,
    pub names: Names<'a, 'p>,
    candidates: BTreeMap<CandidateKey, Candidate>,
    refuted: RefutedGroups,
    /// By class.
    on_lines: FxHashMap<usize, Rc<OnLines<'a>>>,
    by_function: FxHashMap<usize, Rc<ByFunction<'a>>>,
    /// Names of whole objects, and their numbers.
    wholes: IndexSet<String, FxBuildHasher>,
    whole_numbers: FxHashMap<AbstractObjectId, u32>,
    limits: BTreeSet<RaceLimit>,
    lines: IndexSet<(String, String, u32), FxBuildHasher>,
    line_numbers: FxHashMap<SiteId, u32>,
    listed: Listed,
    /// Classes of whose lines nothing is left to tell.
    told: FxHashSet<usize>,
}

impl<'a, 'f, 'p> Reporter<'a, 'f, 'p> {
    pub fn new(
        program: &'a Program,
        facts: &'a Facts<'p>,
        tabulation: &'a Tabulation<'a, 'p>,
        records: &'a Records,
        covers: &'a Covers<'a, 'p>,
        states: &'a [AccessState],
        (reach, orders, arguments): (&'a mut Reach, &'a mut Orders<'f, 'p>, &'a Arguments),
    ) -> Reporter<'a, 'f, 'p> {
        let names = Names::new(program, facts);
        Reporter {
            program,
            facts,
            tabulation,
            records,
            covers,
            states,
            reach,
            orders,
            arguments,
            names,
            candidates: BTreeMap::new(),
            refuted: RefutedGroups::default(),
            on_lines: FxHashMap::default(),
            by_function: FxHashMap::default(),
            wholes: IndexSet::default(),
            whole_numbers: FxHashMap::default(),
            limits: BTreeSet::new(),
            lines: IndexSet::default(),
            line_numbers: FxHashMap::default(),
            listed: Listed::default(),
            told: FxHashSet::default(),
        }
    }

    pub fn run(mut self, judged: &[Judged], quiet: QuietCounts, deadline: Deadline) -> RaceResult {
        let mut protection = Vec::new();
        for of_object in judged.chunk_by(|one, other| one.object == other.object) {
            if deadline.check().is_err() {
                self.limits.insert(RaceLimit::OutOfTime);
                break;
            }
            let mut shared: Vec<usize> = Vec::new();
            let mut raised = Vec::new();
            for pair in of_object {
                match pair.verdict {
                    Verdict::NoConflict => {}
                    Verdict::Refuted(why) => {
                        if !matches!(why, Why::OneThread | Why::Threads(_)) {
                            shared.extend([pair.left, pair.right]);
                        }
                        self.refute(pair.left, pair.right, why, pair.more);
                    }
                    Verdict::Candidate => {
                        shared.extend([pair.left, pair.right]);
                        raised.push(pair);
                    }
                }
            }
            shared.sort_unstable();
            shared.dedup();
            let object = of_object[0].object;
            let left_out = self.raise_all(raised);
            if left_out > 0 {
                let name = self.names.whole(Location { object, offset: Offset::Any });
                self.limits.insert(RaceLimit::MorePairs { object: name, count: left_out });
            }
            protection.extend(self.protection(object, &shared));
        }
        if self.listed.elsewhere > 0 {
            self.limits.insert(RaceLimit::OneOfMany { count: self.listed.elsewhere });
        }
        let mut candidates = one_for_each_place(self.candidates.into_values());
        let position = |candidate: &Candidate| {
            let place = candidate.ends.iter().find_map(|end| end.place.clone());
            (place, candidate.object.clone(), candidate.key())
        };
        candidates.sort_by_cached_key(position);
        let refuted = self.refuted.in_order(&self.wholes);
        RaceResult { candidates, refuted, protection, quiet, limits: self.limits.into_iter().collect() }
    }

    fn class(&self, index: usize) -> (&'a ClassKey, &'a Class) {
        self.records.classes.get_index(index).expect("a class of the table")
    }

    /// The candidates of one object, the strongest pairs of classes first: one for each line that has any, then others. How many were left out.
    fn raise_all(&mut self, mut pairs: Vec<&Judged>) -> u64 {
        let weakness = |pair: &&Judged| {
            let (left, right) = (self.class(pair.left).0, self.class(pair.right).0);
            let locks = self.covers.get(left.cover).len() + self.covers.get(right.cover).len();
            (usize::from(!left.is_write) + usize::from(!right.is_write), locks, pair.left, pair.right)
        };
        pairs.sort_by_cached_key(weakness);
        self.listed.begin_object();
        for wants_new_lines in [true, false] {
            self.listed.begin_pass(wants_new_lines);
            for pair in &pairs {
                self.raise(pair.left, pair.right);
            }
        }
        self.listed.left_out + pairs.iter().map(|pair| pair.more).sum::<u64>()
    }

    /// All pairs of lines of two classes that nothing keeps apart, as far as there is room.
    fn raise(&mut self, left: usize, right: usize) {
        let (key, other_key) = (self.class(left).0, self.class(right).0);
        let (ones, all_others) = (self.on_lines(left), self.on_lines(right));
        if self.is_told(left, &ones.lines) && self.is_told(right, &all_others.lines) {
            let lines = ones.lines.len().max(all_others.lines.len());
            return self.listed.pass_over(lines, ones.accesses() * all_others.accesses());
        }
        if self.listed.is_over() {
            let told = |lines: &OnLines<'_>| {
                let told = lines.lines.iter().filter(|line| line.is_of_many && self.listed.is_told(line.line));
                told.map(|line| line.count).sum::<u64>()
            };
            let told = told(&ones) * told(&all_others);
            return self.listed.leave_out(told, ones.accesses() * all_others.accesses() - told);
        }
        let mut has_new_others = true;
        for (position, one) in ones.lines.iter().enumerate() {
            let begin = if left == right { position } else { 0 };
            let others = &all_others.lines[begin..];
            has_new_others = has_new_others && others.iter().any(|other| self.listed.is_wanted(other.line));
            if !has_new_others && !self.listed.is_wanted(one.line) {
                continue;
            }
            for other in others {
                if !has_new_others && !self.listed.is_wanted(one.line) {
                    break;
                }
                let count = if std::ptr::eq(one, other) { one.count * (one.count + 1) / 2 } else { one.count * other.count };
                let is_of_many = one.is_of_many && other.is_of_many;
                if !self.listed.add((one.line.min(other.line), one.line.max(other.line)), count, is_of_many) {
                    continue;
                }
                let (one, other) = (one.first, other.first);
                let (ours, theirs) = ((key, one.points), (other_key, other.points));
                let points =
                    open_points(self.facts, self.covers, self.orders, ours, theirs).expect("what is alike is judged alike");
                let location = shared_location(self.facts, key, other_key);
                let whole = self.whole(location);
                let whole = self.wholes[whole as usize].clone();
                let candidate = self.candidate(location, (key, one, points.0), (other_key, other, points.1), whole);
                match self.candidates.entry(candidate.key()) {
                    Entry::Vacant(free) => _ = free.insert(candidate),
                    // Two objects may have one name.
                    Entry::Occupied(mut known) if candidate.weakness() < known.get().weakness() => _ = known.insert(candidate),
                    Entry::Occupied(_) => {}
                }
            }
        }
    }

    /// Whether all lines of a class have pointers to very many places, and are told.
    fn is_told(&mut self, class: usize, lines: &[OnLine<'_>]) -> bool {
        let is_told = self.told.contains(&class) || lines.iter().all(|line| line.is_of_many && self.listed.is_told(line.line));
        if is_told {
            self.told.insert(class);
        }
        is_told
    }

    /// The accesses of a class line by line, in the order of the program.
    fn on_lines(&mut self, class: usize) -> Rc<OnLines<'a>> {
        if let Some(known) = self.on_lines.get(&class) {
            return known.clone();
        }
        let mut lines: IndexMap<u32, OnLine<'a>, FxBuildHasher> = IndexMap::default();
        for member in self.records.members_in_order(self.class(class).1) {
            let line = self.line_number(member.site);
            let is_of_many = member.is_of_many(self.facts);
            let on_line = lines.entry(line).or_insert(OnLine { line, count: 0, first: member, is_of_many });
            on_line.count += 1;
            on_line.is_of_many &= is_of_many;
        }
        let lines = Rc::new(OnLines::new(lines.into_values().collect()));
        self.on_lines.insert(class, lines.clone());
        lines
    }

    fn by_function(&mut self, class: usize) -> Rc<ByFunction<'a>> {
        if let Some(known) = self.by_function.get(&class) {
            return known.clone();
        }
        let mut functions = ByFunction::default();
        for member in self.records.members_in_order(self.class(class).1) {
            functions.entry(member.position.function).or_insert((0, member)).0 += 1;
        }
        let functions = Rc::new(functions);
        self.by_function.insert(class, functions.clone());
        functions
    }

    /// The number of a whole object's name.
    fn whole(&mut self, location: Location) -> u32 {
        let (names, wholes) = (&self.names, &mut self.wholes);
        let number = || wholes.insert_full(names.whole(location)).0 as u32;
        *self.whole_numbers.entry(location.object).or_insert_with(number)
    }

    /// The number of a site's file, function and line.
    fn line_number(&mut self, site: SiteId) -> u32 {
        if let Some(known) = self.line_numbers.get(&site) {
            return *known;
        }
        let number = self.lines.insert_full(self.line(site)).0 as u32;
        self.line_numbers.insert(site, number);
        number
    }

    fn candidate(
        &mut self,
        location: Location,
        left: (&ClassKey, &Member, Point),
        right: (&ClassKey, &Member, Point),
        whole: String,
    ) -> Candidate {
        let mut ends = vec![self.side(left.0, left.1, left.2), self.side(right.0, right.1, right.2)];
        ends.sort_by(|one, other| (&one.place, one.role, &one.thread_name).cmp(&(&other.place, other.role, &other.thread_name)));
        let object = {
            // The more exact name; the end that writes first.
            let (key, member) = if left.0.size <= right.0.size { (left.0, left.1) } else { (right.0, right.1) };
            self.names.object(Location { object: location.object, ..key.location }, key.size, member).0
        };
        let last = ends[1].thread_name.clone();
        ends.dedup_by(|later, earlier| later.line() == earlier.line());
        let other_thread = (ends.len() == 1 && ends[0].thread_name != last).then_some(last);
        let why = match (ends.iter().map(|end| end.locks.len()).collect::<Vec<_>>().as_slice(), ends.len()) {
            ([0, 0], _) | ([0], _) => "no lock is held at either end, and no order of threads keeps them apart".to_owned(),
            ([_], _) => "no lock is certainly the same in both threads".to_owned(),
            _ => "no lock is certainly held at both ends, and no order of threads keeps them apart".to_owned(),
        };
        let kind = &self.facts.points_to.object(location.object).kind;
        let is_memory = matches!(kind, AbstractObjectKind::Heap { .. } | AbstractObjectKind::Unknown);
        let why = why + &of_library(self.tabulation.program, kind);
        Candidate { object, whole, is_memory, ends, other_thread, why }
    }

    fn line(&self, site: SiteId) -> (String, String, u32) {
        let place = self.program.place_of(site);
        let (file, line) = place.map_or((String::new(), 0), |place| (place.file, place.line));
        (file, self.names.function(site), line)
    }

    /// A state in which a member is made at a point, with a short way there.
    fn state(&mut self, key: &ClassKey, member: &Member, point: Point) -> (&'a AccessState, Vec<SiteId>) {
        let decided = self.arguments.ambiguous(self.program, self.facts, member.position.function, &member.access);
        let mut found: Option<(usize, &AccessState, Vec<SiteId>)> = None;
        let mut states = Vec::new();
        for state in member.states.iter().map(|state| &self.states[*state]) {
            let standing = self.tabulation.contexts.all[state.context].key.standing;
            let points = self.reach.at(self.orders, self.facts, (state.context, standing), (state.block, state.index));
            let is_elsewhere = decided
                .as_ref()
                .is_some_and(|decided| self.arguments.exclude(point.0, state.context, decided, key.location.object));
            if !is_elsewhere && self.orders.points(points).binary_search(&point).is_ok() {
                states.push(state);
            }
            if states.len() == MOST_STATES {
                break;
            }
        }
        for state in states {
            let calls = self.reach.path(self.facts, self.tabulation, point, state.context);
            let locks = self.tabulation.locksets.get(state.lockset).len();
            if found.as_ref().is_none_or(|(fewest, _, shortest)| (locks, calls.len()) < (*fewest, shortest.len())) {
                found = Some((locks, state, calls));
            }
        }
        let (_, state, calls) = found.expect("a class has a state for each of its points");
        (state, calls)
    }

    fn side(&mut self, key: &ClassKey, member: &Member, point: Point) -> Side {
        let thread = point.0;
        let (state, calls) = self.state(key, member, point);
        let lockset = self.tabulation.locksets.get(state.lockset);
        let mut locks: Vec<LockHeld> = Vec::new();
        for (held, taken_at) in lockset.iter().zip(&state.sites) {
            if let Some(name) = self.names.held(&self.tabulation.identity, held) {
                locks.push(LockHeld { name, is_shared: held.mode == crate::locks::Mode::Shared, taken_at: *taken_at });
            }
        }
        locks.sort_by_key(|lock| (lock.taken_at, lock.name.clone()));
        let known = self.facts.threads.thread(thread);
        let mut creation = Vec::new();
        let mut is_cut = known.is_cut;
        let mut current = Some(thread);
        while let Some(thread) = current {
            let known = self.facts.threads.thread(thread);
            creation.extend(known.site());
            is_cut |= known.is_cut;
            // A thread that was merged may have been created by one of its own kind.
            current = known.parent.filter(|parent| *parent < thread);
        }
        creation.reverse();
        Side {
            thread,
            thread_name: self.names.thread(thread).to_owned(),
            creation,
            site: member.site,
            function: member.position.function,
            function_name: self.names.function(member.site),
            place: self.program.place_of(member.site),
            role: member.role(key.is_atomic),
            object: self.names.object(key.location, key.size, member).0,
            locks,
            calls,
            is_cut,
        }
    }

    /// Counts pairs by the functions they stand in.
    fn refute(&mut self, left: usize, right: usize, why: Why, more: u64) {
        let (key, other_key) = (self.class(left).0, self.class(right).0);
        let location = shared_location(self.facts, key, other_key);
        let whole = self.whole(location);
        let (ones, others) = (self.by_function(left), self.by_function(right));
        let is_one = left == right;
        if !matches!(why, Why::Threads(_)) && self.refuted.count_all((whole, reason_of(why)), (&ones, &others), is_one, more) {
            return;
        }
        let mut more = more;
        for (function, (number, one)) in ones.iter() {
            for (other_function, (other_number, other)) in others.iter() {
                let count = match is_one {
                    true if function == other_function => number * (number + 1) / 2,
                    true if function > other_function => continue,
                    _ => number * other_number,
                } + std::mem::take(&mut more);
                let why = match why {
                    // The order that is spoken of is that of these threads: what is alike overlaps with the same others, perhaps for other reasons.
                    Why::Threads(_) => match self.orders.overlap(one.points, other.points) {
                        Overlap::None(Some(order)) if order != OrderReason::SameThread => Why::Threads(order),
                        _ => why,
                    },
                    why => why,
                };
                let reason = reason_of(why);
                let pair = (*function.min(other_function), *function.max(other_function));
                if self.refuted.count((whole, reason), pair, count) {
                    continue;
                }
                let points = self.some_points(one, other);
                let mut ends = vec![self.side(key, one, points.0), self.side(other_key, other, points.1)];
                ends.sort_by(|one, other| {
                    (&one.place, one.role, &one.thread_name).cmp(&(&other.place, other.role, &other.thread_name))
                });
                let object = self.names.object(location, key.size.min(WHOLE), one).0;
                let detail = self.detail(why, &object, &ends);
                ends.dedup_by(|later, earlier| later.line() == earlier.line());
                let name = self.wholes[whole as usize].clone();
                let group = RefutedGroup { object, whole: name, reason, detail, count, ends };
                self.refuted.add((whole, reason), pair, group);
            }
        }
    }

    /// Two threads to speak of: different ones where there are.
    fn some_points(&self, left: &Member, right: &Member) -> (Point, Point) {
        let (ones, others) = (self.orders.points(left.points), self.orders.points(right.points));
        let different =
            ones.iter().flat_map(|one| others.iter().map(move |other| (*one, *other))).find(|(one, other)| one.0 != other.0);
        different.unwrap_or((ones[0], others[0]))
    }

    /// What is held at how many of the accesses that others may meet.
    fn protection(&self, object: AbstractObjectId, shared: &[usize]) -> Option<Protection> {
        let mut sites: FxHashMap<SiteId, Option<BTreeSet<String>>> = FxHashMap::default();
        for class in shared {
            let (key, class) = self.class(*class);
            if key.location.object != object {
                continue;
            }
            let names: BTreeSet<String> = self.covers.get(key.cover).iter().filter_map(|item| self.item_name(item)).collect();
            for member in self.records.members(class) {
                let held = sites.entry(member.site).or_default();
                *held = Some(match held.take() {
                    // A site counts as protected if every way to it is.
                    Some(known) => known.intersection(&names).cloned().collect(),
                    None => names.clone(),
                });
            }
        }
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for name in sites.values().flatten().flatten() {
            *counts.entry(name.clone()).or_default() += 1;
        }
        let mut rows: Vec<(String, usize)> = counts.into_iter().collect();
        rows.sort_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
        let location = Location { object, offset: Offset::At(0) };
        (!sites.is_empty()).then(|| Protection { object: self.names.whole(location), accesses: sites.len(), rows })
    }

    fn item_name(&self, item: &Item) -> Option<String> {
        let identity = &self.tabulation.identity;
        match item {
            Item::Lock { key: LockKey::Place(place), family, .. } => Some(self.names.place(identity, *place, *family)),
            Item::Lock { key: LockKey::Shape(_), family, .. } => Some(self.names.family(identity, *family)),
            Item::Section => Some("an atomic section".to_owned()),
            Item::Permit(place) => Some(self.names.place(identity, *place, Identity::NOWHERE)),
            Item::InsideOnce(_)
            | Item::OnceDone(_)
            | Item::Acquired(..)
            | Item::Unsent(..)
            | Item::Handed(_)
            | Item::Own(..)
            | Item::Next(..)
            | Item::OwnInstance
            | Item::SignalAtomic => None,
        }
    }
}

/// Of the two locations of a pair, the one that is no unknown memory.
fn shared_location(facts: &Facts<'_>, left: &ClassKey, right: &ClassKey) -> Location {
    let is_unknown = |key: &ClassKey| facts.points_to.object(key.location.object).kind == AbstractObjectKind::Unknown;
    if is_unknown(left) { right.location } else { left.location }
}
