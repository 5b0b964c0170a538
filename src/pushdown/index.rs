//! Dense indices: one newtype for each table of a pushdown system and of an automaton, so that no index is used in the wrong table.

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl From<usize> for $name {
            fn from(index: usize) -> Self {
                Self(u32::try_from(index).expect("a table has fewer than 2^32 entries"))
            }
        }

        impl From<$name> for usize {
            fn from(id: $name) -> usize {
                id.0 as usize
            }
        }
    )*};
}

ids! {
    /// A control state p ∈ P.
    ControlId,
    /// A stack symbol γ ∈ Γ.
    SymbolId,
    /// A rule of Δ.
    RuleId,
    /// A state of an automaton; the first ones are the control states, in their order.
    StateId,
    /// A transition of an automaton.
    TransitionId,
}
