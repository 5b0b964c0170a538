//! What each thread certainly holds, at each point of each function, in each context that matters: a tabulation over the program.
//!
//! | question | file |
//! |---|---|
//! | what of a function matters? | `skeleton`, `action`, `flags`, `usefulness` |
//! | which lock is it? | `identity`, `loads`, `parameters`, `kinds`, `attributes` |
//! | what does one instruction do? | `effects`, `calls`, `passage`, `jumps`, `permits`, `state` |
//! | in which ways is a function entered? | `context`, `constants` |
//! | what is held where? | `tabulate`, all of it in `prepared` |

mod action;
mod attributes;
mod calls;
mod constants;
mod context;
mod effects;
mod flags;
mod frame;
mod identity;
mod jumps;
mod kinds;
mod loads;
mod parameters;
mod passage;
mod permits;
mod prepared;
mod skeleton;
mod state;
mod tabulate;
mod usefulness;

pub use action::Action;
pub use calls::{CallAt, Called};
pub use context::{ContextId, ContextKey, Contexts, Edge, Standing};
pub use effects::inside_once;
pub use identity::Identity;
pub use kinds::{Kinds, TakenAgain};
pub use loads::Table;
pub use prepared::Prepared;
pub use skeleton::{EventKind, Skeletons, Target, build as skeletons};
pub use state::{Alternative, Released, State};
pub use tabulate::{AccessState, Collected, CreationState, PostState, ReleaseState, Tabulation};
