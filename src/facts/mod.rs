//! Facts about a program that hold in every run: who points where, who calls whom, which threads run when, who touches what.
//!
//! Values in, values out: each fact is made from the ones before it, in the order of [`Facts::of`]. Every fact errs on one side: a may-set contains whatever a run can show, and the machine is the test of it.

pub mod accesses;
pub mod call_graph;
pub mod escape;
pub mod freshness;
pub mod loops;
pub mod once;
pub mod own;
pub mod points_to;
pub mod threads;
pub mod values;

pub use accesses::{Accesses, Action, Manner, MemoryAccess, Place, Position};
pub use call_graph::{CallEdge, CallGraph, CallKind};
pub use escape::Escape;
pub use freshness::{Fresh, Freshness, PublicationsId};
pub use own::Own;
pub use points_to::{
    AbstractObject, AbstractObjectId, AbstractObjectKind, Location, Offset, Origin, PointeesId, PointsTo, Statistics,
};
pub use threads::{ActivationId, Ahead, JoinedThreads, OrderReason, PhaseId, Relation, Stage, ThreadId, ThreadKind, Threads};
pub use values::{Definitions, Gap, InPart, Knowledge, Shape, TermId, Valuation, Values};

use crate::deadline::{Deadline, OutOfTime};
use crate::models::BoundModels;
use crate::program::{FunctionId, Program};

/// All facts of a program, each made from the ones before it.
pub struct Facts<'p> {
    pub points_to: PointsTo,
    pub call_graph: CallGraph,
    pub escape: Escape,
    pub threads: Threads,
    pub accesses: Accesses,
    pub freshness: Freshness,
    pub own: Own,
    pub values: Values<'p>,
    /// By abstract object.
    is_one: Vec<bool>,
}

impl<'p> Facts<'p> {
    /// `entries`: the functions of a library that code outside calls; `None` for a program that begins in `main`.
    pub fn of(program: &'p Program, models: &BoundModels<'_>, entries: Option<&[FunctionId]>) -> Facts<'p> {
        Facts::within(program, models, entries, Deadline::NEVER).expect("nothing ends it early")
    }

    /// The same, unless the time is used up before.
    pub fn within(
        program: &'p Program,
        models: &BoundModels<'_>,
        entries: Option<&[FunctionId]>,
        deadline: Deadline,
    ) -> Result<Facts<'p>, OutOfTime> {
        let points_to = PointsTo::within(program, models, entries, deadline)?;
        let call_graph = CallGraph::of(&points_to);
        let escape = Escape::of(&points_to);
        let accesses = Accesses::of(program, models, &points_to);
        let threads = Threads::of(program, models, (&points_to, &call_graph, &accesses), entries);
        deadline.check()?;
        let freshness = Freshness::of(program, models, &points_to, &call_graph, &accesses);
        deadline.check()?;
        let own = Own::of(program, models, (&points_to, &call_graph, &escape), (&threads, &accesses), deadline)?;
        let values = Values::of(program, models);
        let once = once::Once::of(program, models, &points_to, &call_graph);
        let is_one = points_to.objects().map(|(object, _)| once.is_one_object(object)).collect();
        Ok(Facts { points_to, call_graph, escape, threads, accesses, freshness, own, values, is_one })
    }

    /// Whether an abstract object stands for at most one object of a run.
    pub fn is_one_object(&self, object: AbstractObjectId) -> bool {
        self.is_one[object.index()]
    }
}
