//! What each thread certainly holds, at each point of each function, in each context that matters: a tabulation over the program.
//!
//! | question | file |
//! |---|---|
//! | what of a function matters? | `skeleton`, `action`, `usefulness` |
//! | which lock is it? | `identity`, `loads`, `parameters`, `kinds` |
//! | what does one instruction do? | `effects`, `calls`, `state` |
//! | in which ways is a function entered? | `context` |
//! | what is held where? | `tabulate` |

mod action;
mod calls;
mod context;
mod effects;
mod identity;
mod kinds;
mod loads;
mod parameters;
mod skeleton;
mod state;
mod tabulate;
mod usefulness;

pub use context::{ContextId, Contexts, Edge, Standing};
pub use identity::Identity;
pub use kinds::Kinds;
pub use skeleton::{Skeletons, build as skeletons};
pub use tabulate::{AccessState, Collected, CreationState, ReleaseState, Tabulation};
