//! What solving took and came to.

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Reachable functions.
    pub functions: usize,
    pub objects: usize,
    pub locations: usize,
    pub nodes: usize,
    pub edges: usize,
    /// Nodes that lay on a cycle and were merged into another.
    pub merged_nodes: usize,
    pub orderings: usize,
    /// How often a node passed on what it had gained.
    pub visits: usize,
    /// Ways of calling a function that were looked at apart.
    pub contexts: usize,
    /// Arrays whose elements became one.
    pub folded_arrays: usize,
    /// Objects whose bytes became one.
    pub collapsed_objects: usize,
    pub escaped_objects: usize,
}
