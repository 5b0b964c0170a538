//! Facts about a program that hold in every run: who points where, who calls whom.
//!
//! Values in, values out: [`points_to::PointsTo::of`] reads a program and its models, [`call_graph::CallGraph::of`] reads what that
//! found. Every fact errs on one side: a may-set contains whatever a run can show, and the machine is the test of it.

pub mod call_graph;
pub mod points_to;

pub use call_graph::{CallEdge, CallGraph, CallKind};
pub use points_to::{AbstractObject, AbstractObjectId, AbstractObjectKind, Location, Offset, PointsTo, Statistics};
