//! Two threads whose procedures give back what they took, in any order: reachability decided exactly.
//!
//! # Definition   Contextual locking: every lock is released by the call that took it, and a call that returns holds what it held when it began. A run of two
//!                threads is well bracketed if calls and returns of both together nest: no call of one thread begins inside a call of the other and
//!                goes on when that one has returned.
//! # Theorem      Whatever two such threads reach, they reach in a well bracketed run. (Say a begins a call at i and returns from it at j, and b begins
//!                a call at k between them and does not return before j. From k to j, b keeps what it held at k, for the call may not
//!                release it, so a can go on alone from k to its return at j. From i to j, a holds at least what it holds at j, so that
//!                b can make its own steps behind j. The end is the same, and one crossing less.) In a well bracketed run one stack
//!                is enough for both.
//! # Method       Tabulation over one stack: (what was there when the top frame began, what is there now). Whether locking is contextual is looked at on the
//!                way: the first step of a run that breaks it has a contextual run before it, and so is met here.
//! # Paper        Chadha, Madhusudan, Viswanathan 2012.
//! # Deviations   Two threads that are there from the start, plain mutexes; whatever else a thread may do on the way leaves the question open.

use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

use crate::locks::history::{Atom, Doubt, Doubts, LockId};
use crate::pushdown::{ControlId, Head, Replacement, SymbolId};
use crate::thread_pds::{Analysis, LockKind, Origin, Step, ThreadId};

/// Where a thread is to stand, and what it is to hold there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    pub thread: ThreadId,
    pub symbol: SymbolId,
    pub holds: Option<LockId>,
}

/// More pairs of a beginning and a present are not looked at.
const MOST_EDGES: usize = 60_000;
/// Locks are bits.
const MOST_LOCKS: usize = 64;

/// One of the two threads: where it is, what it holds, and what it held when its procedure was called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Side {
    control: ControlId,
    symbol: SymbolId,
    held: u64,
    base: u64,
}

type Node = [Side; 2];
/// The number of a node; that of the node with which the top frame began is the frame's level.
type NodeId = usize;

/// Whoever made a call: the level it was made in, which thread, where it goes on, and the base it had.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Caller {
    level: NodeId,
    thread: usize,
    resume: SymbolId,
    base: u64,
}

/// Whether doubts that remain of two threads are for this to decide: locks that are not nested, of threads that are there from the start.
pub fn is_for(analysis: &Analysis<'_>, threads: [ThreadId; 2], doubts: Doubts) -> bool {
    let is_there = |thread: ThreadId| analysis.population.with_origin(thread, Origin::Created) == 0;
    let holds = |thread: ThreadId| !threads.contains(&thread) && !analysis.threads.thread(thread).holds.is_empty();
    doubts == Doubts::of(Doubt::NotNested)
        && analysis.threads.order.is_none()
        && threads.into_iter().all(is_there)
        && !analysis.threads.ids().any(holds)
}

/// Whether two instances can stand there at once; `None` where locking is not contextual, or it takes too long.
pub fn together(analysis: &Analysis<'_>, wanted: [Wanted; 2]) -> Option<bool> {
    let threads = analysis.threads;
    let is_plain = |lock: LockId| threads.locks.lock(lock).kind == LockKind::Mutex && analysis.is_reliable(lock);
    if threads.locks.len() > MOST_LOCKS || !threads.locks.ids().all(is_plain) {
        return None;
    }
    let begins = wanted.map(|one| {
        let body = threads.thread(one.thread);
        let start = body.initial();
        let held = body.holds.iter().map(|atom: &Atom| bit(atom.lock())).sum();
        Side { control: start.control, symbol: start.stack[0], held, base: 0 }
    });
    if wanted.iter().any(|one| threads.thread(one.thread).initial().stack.len() != 1) {
        return None;
    }
    let mut search = Search::new(analysis, wanted);
    let first = search.number(begins);
    search.add(first, first);
    search.run()
}

fn bit(lock: LockId) -> u64 {
    1 << lock.0
}

struct Search<'a, 't> {
    analysis: &'a Analysis<'t>,
    wanted: [Wanted; 2],
    nodes: IndexSet<Node, FxBuildHasher>,
    /// A level, and what is reached in it.
    edges: FxHashSet<(NodeId, NodeId)>,
    open: Vec<(NodeId, NodeId)>,
    callers: FxHashMap<NodeId, Vec<Caller>>,
    /// By level: who returns from it, and how things are then; the symbol of who returns means nothing.
    exits: FxHashMap<NodeId, Vec<(usize, Node)>>,
}

impl<'a, 't> Search<'a, 't> {
    fn new(analysis: &'a Analysis<'t>, wanted: [Wanted; 2]) -> Search<'a, 't> {
        Search {
            analysis,
            wanted,
            nodes: IndexSet::default(),
            edges: FxHashSet::default(),
            open: Vec::new(),
            callers: FxHashMap::default(),
            exits: FxHashMap::default(),
        }
    }

    fn number(&mut self, node: Node) -> NodeId {
        self.nodes.insert_full(node).0
    }

    fn add(&mut self, level: NodeId, node: NodeId) {
        if self.edges.insert((level, node)) {
            self.open.push((level, node));
        }
    }

    fn run(&mut self) -> Option<bool> {
        while let Some((level, at)) = self.open.pop() {
            let node = self.nodes[at];
            if self.is_wanted(&node) {
                return Some(true);
            }
            if self.edges.len() > MOST_EDGES {
                return None;
            }
            for thread in 0..2 {
                self.steps(level, node, thread)?;
            }
        }
        Some(false)
    }

    fn is_wanted(&self, node: &Node) -> bool {
        node.iter()
            .zip(&self.wanted)
            .all(|(side, wanted)| side.symbol == wanted.symbol && wanted.holds.is_none_or(|lock| side.held & bit(lock) != 0))
    }

    /// All steps of one thread; `None` for one that is not contextual locking.
    fn steps(&mut self, level: NodeId, node: Node, thread: usize) -> Option<()> {
        let system = &self.analysis.threads.thread(self.wanted[thread].thread).system;
        let (side, other) = (node[thread], node[1 - thread]);
        for rule in system.rules_at(Head { control: side.control, symbol: side.symbol }) {
            let rule = system.rule(*rule);
            let held = match rule.weight {
                Step::Nothing => side.held,
                Step::Acquire { lock, .. } | Step::TrySucceeded { lock, .. } => {
                    if (side.held | other.held) & bit(lock) != 0 {
                        continue;
                    }
                    side.held | bit(lock)
                }
                Step::Release { lock } => {
                    // Nobody's, or the caller's.
                    if side.held & !side.base & bit(lock) == 0 {
                        return None;
                    }
                    side.held & !bit(lock)
                }
                Step::TryFailed { .. } | Step::Sleep { .. } | Step::Spawn { .. } | Step::Join { .. } | Step::Condition => {
                    return None;
                }
            };
            let moved = |symbol: SymbolId, base: u64| {
                let mut next = node;
                next[thread] = Side { control: rule.to, symbol, held, base };
                next
            };
            match rule.replacement {
                // ⟨p,γ⟩ ↪ ⟨p′,γ′⟩
                Replacement::Step(symbol) => {
                    let next = self.number(moved(symbol, side.base));
                    self.add(level, next);
                }
                // ⟨p,γ⟩ ↪ ⟨p′,γ′γ″⟩: a level of its own
                Replacement::Push { callee, resume } => {
                    let begun = self.number(moved(callee, held));
                    let caller = Caller { level, thread, resume, base: side.base };
                    let callers = self.callers.entry(begun).or_default();
                    if !callers.contains(&caller) {
                        callers.push(caller);
                        for (_, exit) in
                            self.exits.get(&begun).cloned().unwrap_or_default().iter().filter(|(by, _)| *by == thread)
                        {
                            self.resume(caller, *exit);
                        }
                    }
                    self.add(begun, begun);
                }
                // ⟨p,γ⟩ ↪ ⟨p′,ε⟩: back to whoever made the call, if it was this thread
                Replacement::Pop => {
                    if held != side.base {
                        return None;
                    }
                    let exit = moved(side.symbol, side.base);
                    let exits = self.exits.entry(level).or_default();
                    if !exits.contains(&(thread, exit)) {
                        exits.push((thread, exit));
                        for caller in self.callers.get(&level).cloned().unwrap_or_default() {
                            if caller.thread == thread {
                                self.resume(caller, exit);
                            }
                        }
                    }
                }
            }
        }
        Some(())
    }

    fn resume(&mut self, caller: Caller, exit: Node) {
        let mut node = exit;
        node[caller.thread] = Side { symbol: caller.resume, base: caller.base, ..exit[caller.thread] };
        let node = self.number(node);
        self.add(caller.level, node);
    }
}
