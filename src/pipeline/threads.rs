//! The threads of a program, for people: what `lockcheck emit threads` prints.

use super::entries::Entries;
use crate::deadline::Deadline;
use crate::facts::{Accesses, CallGraph, PointsTo, Threads};
use crate::models::Models;
use crate::program::Program;

/// One block a thread, or a graph in DOT.
pub fn threads(program: &Program, models: &Models, entries: &Entries, is_graph: bool) -> String {
    let bound = models.bind(program);
    let entries = entries.of_library(program);
    let points_to = PointsTo::within(program, &bound, entries.as_deref(), Deadline::NEVER).expect("nothing ends it early");
    let calls = CallGraph::of(&points_to);
    let accesses = Accesses::of(program, &bound, &points_to);
    let threads = Threads::of(program, &bound, (&points_to, &calls, &accesses), entries.as_deref());
    if is_graph { threads.print_dot(program) } else { threads.print(program) }
}
