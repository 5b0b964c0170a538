//! Reports: one [`Report`](crate::findings::Report) in the forms that people and scripts read.

mod digest;
pub mod explain;
pub mod json;
pub mod locks;
pub mod source;
pub mod steps;
pub mod suppression;
pub mod text;
