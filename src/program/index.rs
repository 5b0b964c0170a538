//! Dense indices: one newtype for each table of a program, so that no index is used in the wrong table.

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u32);

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
    /// A function of the program, defined or declared.
    FunctionId,
    /// A basic block of one function.
    BlockId,
    /// An SSA register of one function.
    RegisterId,
    GlobalId,
    ConstantId,
    /// A point of the program as it was before normalisation.
    SiteId,
    LocationId,
    FileId,
    DebugTypeId,
    /// A type of accesses.
    AliasTypeId,
    /// The name of a structure.
    StructureId,
    /// A named variable of the source.
    VariableId,
}
