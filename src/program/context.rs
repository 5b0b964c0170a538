//! Contexts: how a thread came to stand where it stands.

use super::SiteId;

/// The call sites from a thread's entry to a point, and the creation path of the thread itself.
///
/// The same type is used in static traces, candidates and schedules, so that they can be compared.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Context {
    /// The creation sites from the first thread to this one, outermost first; empty for the first thread.
    pub creation: Vec<SiteId>,
    /// The call sites on the stack, outermost first.
    pub calls: Vec<SiteId>,
    /// Whether an analysis cut the outer end off.
    pub truncated: bool,
}
