//! The graph of one context: points of a function, and what leads from one to the next.

use super::super::holding::ContextId;
use super::super::system::Step;
use crate::locks::{LocksetId, Sites};
use crate::program::{BlockId, Operand, SiteId};

/// A point of the program in one alternative of one context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spot {
    pub context: ContextId,
    pub block: BlockId,
    pub index: usize,
    pub site: SiteId,
    /// What the thread is about to take, in the words of its function.
    pub lock: Option<Operand>,
    /// What is certainly held, and where it was taken.
    pub lockset: LocksetId,
    pub sites: Sites,
}

/// A node of one graph.
pub type Node = u32;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edge {
    Step {
        step: Step,
        to: Node,
    },
    /// `after`: where the caller goes on, by the way in which the callee returns.
    Call {
        callee: ContextId,
        after: Vec<(usize, Node)>,
    },
    Return {
        way: usize,
    },
    /// The thread ends here, and others go on.
    Leave,
}

impl Edge {
    pub fn is_silent(&self) -> bool {
        matches!(self, Edge::Step { step: Step::Nothing, .. })
    }
}

#[derive(Clone, Debug)]
pub struct Point {
    pub spot: Spot,
    pub edges: Vec<Edge>,
    /// Somebody asks who stands here.
    pub is_target: bool,
}

#[derive(Clone, Debug, Default)]
pub struct Graph {
    pub points: Vec<Point>,
    pub entry: Node,
}

impl Graph {
    pub fn add(&mut self, spot: Spot) -> Node {
        self.points.push(Point { spot, edges: Vec::new(), is_target: false });
        (self.points.len() - 1) as Node
    }

    pub fn connect(&mut self, from: Node, edge: Edge) {
        let edges = &mut self.points[from as usize].edges;
        if !edges.contains(&edge) {
            edges.push(edge);
        }
    }

    pub fn step(&mut self, from: Node, step: Step, to: Node) {
        self.connect(from, Edge::Step { step, to });
    }
}
