//! A sparse array whose copies share what they have in common.
//!
//! Cloning is one reference count; writing after a clone copies the path to the slot: the spine, one node, one leaf. Reading follows
//! three pointers, whatever the size. (General persistent vectors pay a search in relaxed nodes for concatenation, which nobody
//! needs here; the counts are triomphe's, whose uniqueness test is a load, where the standard library's is a read-modify-write.)

use triomphe::Arc;

const LEAF_BITS: usize = 5;
const NODE_BITS: usize = 6;
const LEAF: usize = 1 << LEAF_BITS;
const NODE: usize = 1 << NODE_BITS;

#[derive(Clone)]
struct Leaf<T>([Option<T>; LEAF]);

#[derive(Clone)]
struct Node<T>([Option<Arc<Leaf<T>>>; NODE]);

/// Indices to values, most of them dense, all of them optional.
pub struct Tree<T> {
    spine: Arc<Vec<Option<Arc<Node<T>>>>>,
}

impl<T> Clone for Tree<T> {
    fn clone(&self) -> Self {
        Tree { spine: Arc::clone(&self.spine) }
    }
}

impl<T: Clone> Tree<T> {
    pub fn new() -> Tree<T> {
        Tree { spine: Arc::new(Vec::new()) }
    }

    #[inline]
    pub fn get(&self, index: usize) -> Option<&T> {
        let node = self.spine.get(index >> (LEAF_BITS + NODE_BITS))?.as_ref()?;
        let leaf = node.0[(index >> LEAF_BITS) & (NODE - 1)].as_ref()?;
        leaf.0[index & (LEAF - 1)].as_ref()
    }

    /// The slot for an index, made when it is not there.
    #[inline]
    pub fn slot(&mut self, index: usize) -> &mut Option<T> {
        let high = index >> (LEAF_BITS + NODE_BITS);
        let spine = Arc::make_mut(&mut self.spine);
        if high >= spine.len() {
            spine.resize_with(high + 1, || None);
        }
        let node = spine[high].get_or_insert_with(|| Arc::new(Node([const { None }; NODE])));
        let leaf = Arc::make_mut(node).0[(index >> LEAF_BITS) & (NODE - 1)]
            .get_or_insert_with(|| Arc::new(Leaf([const { None }; LEAF])));
        &mut Arc::make_mut(leaf).0[index & (LEAF - 1)]
    }
}

impl<T: Clone> Default for Tree<T> {
    fn default() -> Self {
        Tree::new()
    }
}

#[cfg(test)]
mod tests {
    use super::Tree;

    #[test]
    fn slots_are_found_again_and_absent_ones_are_not() {
        let mut tree = Tree::new();
        for index in [0, 1, 31, 32, 2047, 2048, 70_000, 1_000_000] {
            *tree.slot(index) = Some(index);
        }
        for index in [0, 1, 31, 32, 2047, 2048, 70_000, 1_000_000] {
            assert_eq!(tree.get(index), Some(&index));
        }
        for index in [2, 33, 2046, 69_999, 1_000_001, 50_000_000] {
            assert_eq!(tree.get(index), None);
        }
    }

    #[test]
    fn a_clone_does_not_see_later_writes() {
        let mut tree = Tree::new();
        for index in 0..5000 {
            *tree.slot(index) = Some(index);
        }
        let before = tree.clone();
        *tree.slot(4000) = Some(7);
        *tree.slot(6000) = Some(8);
        assert_eq!((before.get(4000), before.get(6000)), (Some(&4000), None));
        assert_eq!((tree.get(4000), tree.get(6000), tree.get(4001)), (Some(&7), Some(&8), Some(&4001)));
    }
}
