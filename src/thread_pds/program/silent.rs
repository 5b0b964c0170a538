//! A graph without its silent parts.
//!
//! # Definition   A point is of interest if something other than [`Step::Nothing`] leads on from it, if it is asked for, or if it is the entry. S(p) is the set of
//!                points of interest that silent steps lead to from p; p alone if it is one.
//! # Theorem      Replacing every p by one point for its S(p) keeps all sequences of steps of interest: silent steps from p lead to each of S(p), and
//!                to nothing else of interest before them.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use petgraph::algo::tarjan_scc;
use petgraph::graph::{DiGraph, NodeIndex};

use super::super::system::Step;
use super::graph::{Edge, Graph, Node, Point};

/// Points of interest, ascending.
type Interests = Rc<[Node]>;

pub fn without_silent_steps(graph: &Graph) -> Graph {
    let mut compact = Compact {
        old: graph,
        interests: interests(graph),
        new: Graph::default(),
        copies: BTreeMap::new(),
        choices: BTreeMap::new(),
        open: Vec::new(),
    };
    compact.new.entry = compact.copy(graph.entry);
    while let Some((old, new)) = compact.open.pop() {
        for edge in &graph.points[old as usize].edges {
            compact.connect(new, edge);
        }
    }
    compact.new
}

fn is_of_interest(graph: &Graph, node: Node) -> bool {
    let point = &graph.points[node as usize];
    node == graph.entry || point.is_target || point.edges.iter().any(|edge| !edge.is_silent())
}

/// S(p) for every point.
fn interests(graph: &Graph) -> Vec<Interests> {
    let mut silent: DiGraph<(), ()> = DiGraph::with_capacity(graph.points.len(), graph.points.len());
    for _ in &graph.points {
        silent.add_node(());
    }
    for (from, point) in graph.points.iter().enumerate().filter(|(from, _)| !is_of_interest(graph, *from as Node)) {
        for to in silent_successors(point) {
            silent.add_edge(NodeIndex::new(from), NodeIndex::new(to as usize), ());
        }
    }
    let nothing: Interests = Rc::from([]);
    let mut found = vec![nothing; graph.points.len()];
    // Successors come first.
    for part in tarjan_scc(&silent) {
        if let [node] = part[..]
            && let Some(next) = only_silent_step(graph, node.index())
        {
            found[node.index()] = found[next as usize].clone();
            continue;
        }
        let mut all: BTreeSet<Node> = BTreeSet::new();
        for node in &part {
            if is_of_interest(graph, node.index() as Node) {
                all.insert(node.index() as Node);
            } else {
                silent_successors(&graph.points[node.index()]).for_each(|to| all.extend(found[to as usize].iter()));
            }
        }
        let all: Interests = all.into_iter().collect();
        part.iter().for_each(|node| found[node.index()] = all.clone());
    }
    found
}

/// Where a point leads that is of no interest and from which one silent step leads on, and not to itself.
fn only_silent_step(graph: &Graph, node: usize) -> Option<Node> {
    let mut next = silent_successors(&graph.points[node]);
    let (Some(next), None) = (next.next(), next.next()) else { return None };
    (next as usize != node && !is_of_interest(graph, node as Node)).then_some(next)
}

fn silent_successors(point: &Point) -> impl Iterator<Item = Node> + '_ {
    point.edges.iter().filter_map(|edge| match edge {
        Edge::Step { step: Step::Nothing, to } => Some(*to),
        Edge::Step { .. } | Edge::Call { .. } | Edge::Return { .. } | Edge::Leave => None,
    })
}

struct Compact<'g> {
    old: &'g Graph,
    interests: Vec<Interests>,
    new: Graph,
    copies: BTreeMap<Node, Node>,
    /// One point for each set of several.
    choices: BTreeMap<Interests, Node>,
    /// Copies whose edges are to be made: the old point, and the new one.
    open: Vec<(Node, Node)>,
}

impl Compact<'_> {
    /// The new point for one of interest.
    fn copy(&mut self, node: Node) -> Node {
        if let Some(known) = self.copies.get(&node) {
            return *known;
        }
        let point = &self.old.points[node as usize];
        let copy = self.new.add(point.spot.clone());
        self.new.points[copy as usize].is_target = point.is_target;
        self.copies.insert(node, copy);
        self.open.push((node, copy));
        copy
    }

    /// The new point for any; `None` where nothing of interest comes.
    fn moved(&mut self, node: Node) -> Option<Node> {
        let set = self.interests[node as usize].clone();
        match &set[..] {
            [] => None,
            [one] => Some(self.copy(*one)),
            [first, ..] => {
                if let Some(known) = self.choices.get(&set) {
                    return Some(*known);
                }
                let choice = self.new.add(self.old.points[*first as usize].spot.clone());
                self.choices.insert(set.clone(), choice);
                for one in set.iter() {
                    let to = self.copy(*one);
                    self.new.step(choice, Step::Nothing, to);
                }
                Some(choice)
            }
        }
    }

    fn connect(&mut self, from: Node, edge: &Edge) {
        let edge = match edge {
            Edge::Step { step, to } => match self.moved(*to) {
                Some(to) => Edge::Step { step: *step, to },
                None => return,
            },
            Edge::Call { callee, after } => {
                let after = after.iter().filter_map(|(way, to)| Some((*way, self.moved(*to)?))).collect();
                Edge::Call { callee: *callee, after }
            }
            Edge::Return { way } => Edge::Return { way: *way },
            Edge::Leave => Edge::Leave,
        };
        self.new.connect(from, edge);
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::holding::ContextId;
    use super::super::graph::Spot;
    use super::*;
    use crate::locks::history::LockId;
    use crate::locks::{LocksetId, Sites};
    use crate::program::{BlockId, SiteId};

    fn graph(points: usize, edges: &[(Node, Edge)]) -> Graph {
        let mut graph = Graph::default();
        for site in 0..points {
            graph.add(Spot {
                context: ContextId::from(0),
                block: BlockId::from(0),
                index: site,
                site: SiteId::from(site),
                lock: None,
                lockset: LocksetId::EMPTY,
                sites: Sites::default(),
            });
        }
        edges.iter().for_each(|(from, edge)| graph.connect(*from, edge.clone()));
        graph
    }

    fn silent(to: Node) -> Edge {
        Edge::Step { step: Step::Nothing, to }
    }

    fn release(to: Node) -> Edge {
        Edge::Step { step: Step::Release { lock: LockId(0) }, to }
    }

    /// The sequences of releases and returns, by the sites they are made at, up to a length.
    fn words(graph: &Graph, most: usize) -> BTreeSet<Vec<usize>> {
        let mut words = BTreeSet::new();
        let mut open = vec![(graph.entry, Vec::new())];
        let mut seen = BTreeSet::new();
        while let Some((node, word)) = open.pop() {
            if word.len() > most || !seen.insert((node, word.clone())) {
                continue;
            }
            words.insert(word.clone());
            let point = &graph.points[node as usize];
            for edge in &point.edges {
                let mut longer = word.clone();
                match edge {
                    Edge::Step { step: Step::Nothing, to } => open.push((*to, longer)),
                    Edge::Step { to, .. } => {
                        longer.push(point.spot.index);
                        open.push((*to, longer));
                    }
                    Edge::Return { .. } | Edge::Leave | Edge::Call { .. } => {
                        longer.push(point.spot.index);
                        words.insert(longer);
                    }
                }
            }
        }
        words
    }

    #[test]
    fn a_silent_loop_is_one_point() {
        // 0 → 1 ⇄ 2 → 3 (release) → 4 → 1, and 2 → 5 (return); 6 leads nowhere.
        let edges = [
            (0, silent(1)),
            (1, silent(2)),
            (2, silent(1)),
            (2, silent(3)),
            (3, release(4)),
            (4, silent(1)),
            (2, silent(5)),
            (5, Edge::Return { way: 0 }),
            (2, silent(6)),
        ];
        let whole = graph(7, &edges);
        let compact = without_silent_steps(&whole);
        assert_eq!(words(&compact, 4), words(&whole, 4));
        assert_eq!(compact.points.len(), 4, "the entry, the release, the return, and the choice between them");
    }

    #[test]
    fn what_is_asked_for_stays_though_it_does_nothing() {
        let mut whole = graph(4, &[(0, silent(1)), (1, silent(2)), (2, silent(3)), (3, Edge::Return { way: 0 })]);
        whole.points[2].is_target = true;
        let compact = without_silent_steps(&whole);
        assert_eq!(compact.points.iter().filter(|point| point.is_target).count(), 1);
        assert_eq!(words(&compact, 3), words(&whole, 3));
        assert_eq!(compact.points.len(), 3);
    }
}
