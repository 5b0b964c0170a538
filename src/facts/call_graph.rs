//! The call graph: who calls whom, directly, through pointers, by creating threads and by handing out callbacks.
//!
//! # Definition   An edge leads from a site to each function that may begin to run because of it. A function is reachable if a path leads to it from
//!                the program's entry, a constructor or destructor, or code outside the program.

use std::collections::{BTreeMap, BTreeSet};

use petgraph::algo::tarjan_scc;
use petgraph::graphmap::DiGraphMap;

use super::points_to::PointsTo;
use crate::program::{Callee, FunctionId, Operand, Operation, Program, SiteId};

/// One way for a function to begin to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallEdge {
    /// The function the site stands in; `None` where no site of the program is the cause.
    pub caller: Option<FunctionId>,
    pub site: Option<SiteId>,
    pub callee: FunctionId,
    pub kind: CallKind,
}

/// Who runs the callee, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CallKind {
    /// The calling thread, before the call returns.
    Call,
    /// A new thread.
    Spawn,
    /// The calling thread, inside a library function.
    Callback,
    Once,
    /// The calling thread, when it is cancelled, exits, or pops the routine.
    Cleanup,
    /// Any thread that ends with a value under the key.
    KeyDestructor,
    /// The thread that ends the process.
    AtExit,
    /// Any thread, at any time.
    SignalHandler,
    /// The start of the program.
    Main,
    Constructor,
    Destructor,
    /// Code outside the program, in any thread.
    Outside,
}

impl CallKind {
    /// Whether the callee runs on the caller's stack.
    pub fn is_nested(self) -> bool {
        matches!(self, Self::Call | Self::Callback | Self::Once)
    }
}

/// An argument that a call instruction gives for a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Binding {
    pub caller: FunctionId,
    pub site: SiteId,
    /// An operand of the caller: `PointsTo::pointees(caller, argument)` is what this caller alone hands over.
    pub argument: Operand,
}

#[derive(Debug, Default)]
pub struct CallGraph {
    by_caller: BTreeMap<FunctionId, Vec<CallEdge>>,
    by_callee: BTreeMap<FunctionId, Vec<CallEdge>>,
    /// Callees before callers.
    components: Vec<Vec<FunctionId>>,
    component_of: BTreeMap<FunctionId, usize>,
    recursive: BTreeSet<FunctionId>,
    reachable: BTreeSet<FunctionId>,
}

impl CallGraph {
    pub fn of(points_to: &PointsTo) -> CallGraph {
        let mut graph = CallGraph::default();
        let mut nested: DiGraphMap<FunctionId, ()> = DiGraphMap::new();
        for edge in points_to.call_edges() {
            nested.add_node(edge.callee);
            graph.by_callee.entry(edge.callee).or_default().push(*edge);
            graph.reachable.insert(edge.callee);
            let Some(caller) = edge.caller else { continue };
            graph.by_caller.entry(caller).or_default().push(*edge);
            if edge.kind.is_nested() {
                nested.add_edge(caller, edge.callee, ());
            }
        }
        graph.components = tarjan_scc(&nested);
        for (number, component) in graph.components.iter_mut().enumerate() {
            component.sort_unstable();
            let is_cycle = component.len() > 1 || nested.contains_edge(component[0], component[0]);
            for function in component.iter() {
                graph.component_of.insert(*function, number);
                if is_cycle {
                    graph.recursive.insert(*function);
                }
            }
        }
        graph
    }

    /// What the sites of a function start, in order of the sites.
    pub fn calls_in(&self, caller: FunctionId) -> &[CallEdge] {
        self.by_caller.get(&caller).map_or(&[], Vec::as_slice)
    }

    /// All that makes a function run.
    pub fn calls_of(&self, callee: FunctionId) -> &[CallEdge] {
        self.by_callee.get(&callee).map_or(&[], Vec::as_slice)
    }

    /// Whether a function begins to run only by call instructions.
    pub fn is_only_called(&self, function: FunctionId) -> bool {
        let edges = self.calls_of(function);
        !edges.is_empty() && edges.iter().all(|edge| edge.kind == CallKind::Call && edge.caller.is_some())
    }

    /// The strongly connected components of calls inside one thread, callees before callers.
    pub fn components(&self) -> &[Vec<FunctionId>] {
        &self.components
    }

    pub fn component_of(&self, function: FunctionId) -> Option<usize> {
        self.component_of.get(&function).copied()
    }

    /// Whether a call of the function may be active while another call of it begins in the same thread.
    pub fn is_recursive(&self, function: FunctionId) -> bool {
        self.recursive.contains(&function)
    }

    /// Every function that may run, library functions among them.
    pub fn reachable(&self) -> &BTreeSet<FunctionId> {
        &self.reachable
    }

    /// The functions that new threads begin with, and where.
    pub fn spawns(&self) -> impl Iterator<Item = &CallEdge> {
        self.by_caller.values().flatten().filter(|edge| edge.kind == CallKind::Spawn)
    }

    /// What each call instruction gives for a parameter: where callers are told apart.
    pub fn bindings_of(&self, program: &Program, callee: FunctionId, parameter: usize) -> Vec<Binding> {
        let mut bindings = Vec::new();
        for edge in self.calls_of(callee).iter().filter(|edge| edge.kind == CallKind::Call) {
            let (Some(caller), Some(site)) = (edge.caller, edge.site) else { continue };
            let instructions = program.functions[caller].blocks.iter().flat_map(|block| &block.instructions);
            for instruction in instructions.filter(|instruction| instruction.site == site) {
                if let Operation::Call { callee: called, arguments, .. } = &instruction.operation
                    && !matches!(called, Callee::Direct(other) if *other != callee)
                    && let Some(argument) = arguments.get(parameter)
                {
                    bindings.push(Binding { caller, site, argument: argument.value });
                }
            }
        }
        bindings
    }
}
