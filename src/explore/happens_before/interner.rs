//! Call stacks and sets of held locks as small numbers, so that every recorded access can name them.
//!
//! The tables only grow and are shared by all copies of a machine. A number depends on who came first; what it stands for does not,
//! and only that reaches a report.

use std::sync::{Arc, Mutex, MutexGuard};

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

use crate::explore::sync::HeldLock;
use crate::explore::thread_id::ThreadId;
use crate::program::{Context, SiteId};

/// A call stack, and how its thread came to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StackId(u32);

impl StackId {
    /// The first thread, in its entry function.
    pub const ROOT: StackId = StackId(0);
}

/// The locks a thread holds, in the order it took them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LocksetId(u32);

impl LocksetId {
    pub const EMPTY: LocksetId = LocksetId(0);
}

/// Who makes an access, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Actor {
    pub thread: ThreadId,
    pub site: Option<SiteId>,
    pub stack: StackId,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct StackNode {
    /// The stack below; the root is its own.
    below: u32,
    /// `None` at the root.
    site: Option<SiteId>,
    /// The site creates a thread; it does not call.
    is_creation: bool,
}

#[derive(Debug)]
struct Tables {
    stacks: IndexSet<StackNode, FxBuildHasher>,
    locksets: IndexSet<Vec<HeldLock>, FxBuildHasher>,
}

/// The table of call stacks and locksets of a run and of its copies.
#[derive(Clone, Debug)]
pub struct Stacks(Arc<Mutex<Tables>>);

impl Default for Stacks {
    fn default() -> Self {
        let mut tables = Tables { stacks: IndexSet::default(), locksets: IndexSet::default() };
        tables.stacks.insert(StackNode { below: 0, site: None, is_creation: false });
        tables.locksets.insert(Vec::new());
        Stacks(Arc::new(Mutex::new(tables)))
    }
}

impl Stacks {
    fn tables(&self) -> MutexGuard<'_, Tables> {
        self.0.lock().expect("no user of the tables panics while it holds them")
    }

    /// The stack of a function that is called at `site` by one that stands at `below`.
    pub fn call(&self, below: StackId, site: SiteId) -> StackId {
        self.push(StackNode { below: below.0, site: Some(site), is_creation: false })
    }

    /// The stack of the entry function of a thread that is created at `site` by one that stands at `creator`.
    pub fn create(&self, creator: StackId, site: SiteId) -> StackId {
        self.push(StackNode { below: creator.0, site: Some(site), is_creation: true })
    }

    fn push(&self, node: StackNode) -> StackId {
        StackId(self.tables().stacks.insert_full(node).0 as u32)
    }

    /// What a number stands for. Calls of the creators are not part of a thread's context, their creation sites are.
    pub fn context(&self, stack: StackId) -> Context {
        let tables = self.tables();
        let mut context = Context::default();
        let mut id = stack.0;
        while let Some(site) = tables.stacks[id as usize].site {
            let node = tables.stacks[id as usize];
            if node.is_creation {
                context.creation.push(site);
            } else if context.creation.is_empty() {
                context.calls.push(site);
            }
            id = node.below;
        }
        context.calls.reverse();
        context.creation.reverse();
        context
    }

    pub(super) fn lockset(&self, held: &[HeldLock]) -> LocksetId {
        if held.is_empty() {
            return LocksetId::EMPTY;
        }
        let mut tables = self.tables();
        if let Some(index) = tables.locksets.get_index_of(held) {
            return LocksetId(index as u32);
        }
        LocksetId(tables.locksets.insert_full(held.to_vec()).0 as u32)
    }

    pub(super) fn locks(&self, lockset: LocksetId) -> Vec<HeldLock> {
        self.tables().locksets[lockset.0 as usize].clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_stacks_have_equal_numbers_and_are_found_again() {
        let stacks = Stacks::default();
        let site = |number: usize| SiteId::from(number);
        let in_main = stacks.call(StackId::ROOT, site(1));
        let deeper = stacks.call(in_main, site(2));
        assert_eq!(deeper, stacks.call(stacks.call(StackId::ROOT, site(1)), site(2)));
        assert_ne!(deeper, in_main);
        let in_thread = stacks.call(stacks.create(deeper, site(3)), site(4));
        assert_eq!(stacks.context(StackId::ROOT), Context::default());
        assert_eq!(stacks.context(deeper).calls, [site(1), site(2)]);
        let context = stacks.context(in_thread);
        assert_eq!((context.creation, context.calls), (vec![site(3)], vec![site(4)]));
    }
}
