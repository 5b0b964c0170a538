//! Code outside the program: what it holds it may read, write, pass on and call.

use super::call::{Call, MOST_MISFITS};
use super::form::Form;
use super::location::Class;
use super::object::AbstractObjectKind;
use super::set::LocationSet;
use super::solve::Solver;
use crate::facts::call_graph::CallEdge;
use crate::program::FunctionId;

impl Solver<'_> {
    /// What outside code holds it may read, write, pass on and call.
    pub fn escape(&mut self, delta: &LocationSet) {
        self.expand_residue(self.escaped, delta);
        for location in delta.iter() {
            let (object, _) = self.locations.get(location);
            if std::mem::replace(&mut self.memories[object.index()].is_escaped, true) {
                continue;
            }
            if let AbstractObjectKind::Function(function) = self.objects[object.index()].kind {
                self.called_from_outside(function);
                continue;
            }
            if let Some(view) = self.view(object, Class::ANY, Form::of(1)) {
                self.graph.add_edge(view, self.escaped);
            }
            if !self.is_constant(object)
                && let Some(cell) = self.cell(object, Class::ANY, Form::of(self.pointer_bytes))
            {
                self.graph.add_edge(self.unknown_value, cell);
            }
        }
    }

    /// A pointer of unknown origin may be any function that escaped and that the call fits; those got `Unknown` arguments already.
    pub fn connect_calls_of_unknown(&mut self) {
        let escaped = self.objects.iter().zip(&self.memories).filter(|(_, memory)| memory.is_escaped);
        let functions: Vec<FunctionId> = escaped
            .filter_map(|(object, _)| match object.kind {
                AbstractObjectKind::Function(function) => Some(function),
                _ => None,
            })
            .collect();
        let is_crowd = functions.len() > self.graph.limits.crowd;
        for number in self.calls_of_unknown.clone() {
            let Call { caller, site, kind, .. } = self.calls[number as usize];
            let fitting: Vec<FunctionId> =
                functions.iter().copied().filter(|callee| self.may_be_called(&self.calls[number as usize], *callee)).collect();
            // As for a pointer that is known: where none fits and they are few, the program means them.
            let fitting = if fitting.is_empty() && functions.len() <= MOST_MISFITS { functions.clone() } else { fitting };
            for callee in fitting {
                if is_crowd && !self.may_get(number, callee) {
                    self.graph.has_misfits = true;
                } else {
                    self.edges.insert(CallEdge { caller: Some(caller), site: Some(site), callee, kind });
                }
            }
        }
    }
}
