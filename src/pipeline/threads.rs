//! The threads of a program, for people: what `lockcheck emit threads` prints.

use crate::facts::{CallGraph, PointsTo, Threads};
use crate::models::Models;
use crate::program::Program;

/// One block a thread, or a graph in DOT.
pub fn threads(program: &Program, models: &Models, is_graph: bool) -> String {
    let bound = models.bind(program);
    let points_to = PointsTo::of(program, &bound);
    let calls = CallGraph::of(&points_to);
    let threads = Threads::of(program, &bound, &points_to, &calls, None);
    if is_graph { threads.print_dot(program) } else { threads.print(program) }
}
