//! Calls: arguments to parameters, results back, on the fly as targets appear.
//!
//! Parameters merge all callers. A later stage that needs them apart (lock arguments of a locking wrapper) reads
//! `CallGraph::bindings_of` and asks `pointees` for the argument at each call site: that is the place where callers are still apart.

use std::collections::{BTreeMap, BTreeSet};

use super::constraint::Constraint;
use super::context::ContextId;
use super::graph::NodeId;
use super::location::Class;
use super::object::{AbstractObject, AbstractObjectKind};
use super::origin::Origin;
use super::solve::Solver;
use super::typed::Pointed;
use crate::facts::call_graph::{CallEdge, CallKind};
use crate::models::Effect;
use crate::program::function::ByValue;
use crate::program::{FunctionId, Parameter, Scalar, SiteId, Type};

/// Functions that a call reaches although none of them fits it.
pub(super) const MOST_MISFITS: usize = 4;

/// A place where a function is called, by an instruction or by a library function.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub site: SiteId,
    pub caller: FunctionId,
    /// Of the caller.
    pub context: ContextId,
    pub kind: CallKind,
    pub arguments: Vec<CallArgument>,
    /// Where the result goes, and its bytes.
    pub result: Option<(NodeId, u64)>,
    /// Of a call through a pointer: what that points to if it is typed (`typed`).
    pub through: Pointed,
    /// Of a call by an instruction that gets a result.
    pub result_kind: Option<ArgumentKind>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct CallArgument {
    pub node: Option<NodeId>,
    pub constant: Option<u64>,
    pub by_value: Option<ByValue>,
    pub bytes: u32,
    pub kind: ArgumentKind,
    /// What it points to if it is typed (`typed`).
    pub pointed: Pointed,
}

/// Types of arguments, as far as a call through a pointer of another type must agree in them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ArgumentKind {
    Pointer,
    Long,
    Integer,
    Other,
}

impl Call {
    pub fn argument(&self, position: usize) -> Option<NodeId> {
        self.arguments.get(position)?.node
    }

    pub fn constant(&self, position: usize) -> Option<u64> {
        self.arguments.get(position)?.constant
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Target {
    Function(FunctionId),
    Pointer(NodeId),
}

impl Solver<'_> {
    pub fn add_call(&mut self, call: Call, target: Target) {
        let number = self.calls.len() as u32;
        self.calls.push(call);
        match target {
            Target::Function(function) => self.connect(number, function),
            Target::Pointer(node) => self.attach(node, Constraint::Call { call: number }),
        }
    }

    /// A call through a pointer that may be any function known outside.
    pub fn call_unknown(&mut self, call: u32) {
        self.calls_of_unknown.insert(call);
        let call = self.calls[call as usize].clone();
        self.call_outside(&call, None);
    }

    /// A call through a pointer that may be this one.
    pub fn call_location(&mut self, call: u32, location: u32, is_of_crowd: bool) {
        let (object, class) = self.locations.get(location);
        if let AbstractObjectKind::Function(function) = self.objects[object.index()].kind
            && class.offset().contains(0)
        {
            if !self.may_be_called(&self.calls[call as usize], function) {
                self.misfits.insert((call, function));
            } else if is_of_crowd && !self.may_get(call, function) {
                self.graph.has_misfits = true;
            } else {
                self.connect(call, function);
            }
        }
    }

    /// Whether there was something to do: a call that fits none of the functions it may reach is made all the same, whatever C says of it. Where they are many, it
    /// is the pointer that is not known well, and not the program that means them.
    pub fn connect_misfits(&mut self) -> bool {
        let fitting: BTreeSet<u32> = self.connected.iter().map(|(call, _)| *call).collect();
        let mut reached: BTreeMap<u32, usize> = BTreeMap::new();
        self.misfits.iter().for_each(|(call, _)| *reached.entry(*call).or_default() += 1);
        let is_kept = |call: &u32| fitting.contains(call) || reached[call] > MOST_MISFITS;
        let (kept, alone): (BTreeSet<_>, BTreeSet<_>) =
            std::mem::take(&mut self.misfits).into_iter().partition(|(call, _)| is_kept(call));
        self.misfits = kept;
        for (call, function) in &alone {
            self.connect(*call, *function);
        }
        !alone.is_empty()
    }

    /// Whether a call through a pointer can be one of this function: each parameter gets an argument of its kind, and the result is of the kind that
    /// is wanted. Any other call has no defined behaviour (C17 6.5.2.2p9).
    pub fn may_be_called(&self, call: &Call, callee: FunctionId) -> bool {
        let function = &self.program.functions[callee];
        let fits = |(parameter, argument): (&Parameter, &CallArgument)| {
            parameter.by_value.is_some() == argument.by_value.is_some()
                && Solver::argument_kind(function.registers[parameter.register].ty) == argument.kind
        };
        let (wanted, passed) = (function.parameters.len(), call.arguments.len());
        call.kind != CallKind::Call
            || !function.is_defined()
            || (passed == wanted || function.is_variadic && passed > wanted)
                && function.parameters.iter().zip(&call.arguments).all(fits)
                && call.result_kind.is_none_or(|kind| kind == Solver::argument_kind(function.return_type))
    }

    /// Whether the function is one that the pointer's type names, and the arguments point to what the parameters say they do.
    pub fn may_get(&mut self, call: u32, callee: FunctionId) -> bool {
        let Call { through, .. } = self.calls[call as usize];
        if through.is_some_and(|through| !self.typed.may_be_called_through(callee, through)) {
            return false;
        }
        let parameters = self.typed.of_parameters(self.program, callee);
        let (typed, declarations) = (&mut self.typed, &self.declarations);
        let arguments = &self.calls[call as usize].arguments;
        arguments.iter().zip(parameters.iter()).all(|(argument, parameter)| {
            argument.pointed.zip(*parameter).is_none_or(|(given, taken)| typed.may_be_passed_for(declarations, given, taken))
        })
    }

    pub fn argument_kind(ty: Type) -> ArgumentKind {
        match ty {
            Type::Scalar(Scalar::Pointer) => ArgumentKind::Pointer,
            Type::Scalar(Scalar::Integer(bits)) if bits > 32 => ArgumentKind::Long,
            Type::Scalar(Scalar::Integer(_)) => ArgumentKind::Integer,
            Type::Void | Type::Scalar(_) | Type::Vector { .. } | Type::Aggregate { .. } => ArgumentKind::Other,
        }
    }

    fn connect(&mut self, number: u32, callee: FunctionId) {
        if !self.connected.insert((number, callee)) {
            return;
        }
        let call = self.calls[number as usize].clone();
        self.edges.insert(CallEdge { caller: Some(call.caller), site: Some(call.site), callee, kind: call.kind });
        let is_defined = self.program.functions[callee].is_defined();
        match self.models[callee] {
            Some(model) if !is_defined || !model.effects.contains(&Effect::AtomicBody) => self.call_library(&call, callee, model),
            _ if is_defined => self.call_body(&call, callee),
            _ if self.program.functions[callee].is_pure_intrinsic() => self.call_pure(&call),
            _ => self.call_outside(&call, Some(callee)),
        }
    }

    fn call_body(&mut self, call: &Call, callee: FunctionId) {
        let program = self.program;
        let function = &program.functions[callee];
        let context = self.context_of(call, callee);
        for (position, (parameter, argument)) in function.parameters.iter().zip(&call.arguments).enumerate() {
            let register = self.register(context, parameter.register);
            match (parameter.by_value, argument.node) {
                (Some(copy), Some(argument)) => {
                    let kind = AbstractObjectKind::ByValueCopy { function: callee, parameter: position };
                    let object =
                        AbstractObject { kind, size: Some(copy.size), align: copy.align.max(1), ty: None, element: None };
                    let target = self.holder(object, Class::at(0));
                    self.graph.add_edge(target, register);
                    self.copy_as(Some(target), Some(argument), Some(copy.size), true);
                }
                (None, Some(argument)) => {
                    let bytes = program.layout.store_bytes(function.registers[parameter.register].ty);
                    self.carry(argument, register, bytes);
                }
                (_, None) => {}
            }
        }
        if function.is_variadic {
            for argument in call.arguments.iter().skip(function.parameters.len()) {
                let area = AbstractObject::new(AbstractObjectKind::VariadicArea(callee));
                let area = self.holder(area, Class::ANY);
                match argument.by_value {
                    Some(copy) => self.copy(Some(area), argument.node, Some(copy.size)),
                    None => self.store(Some(area), argument.node, argument.bytes),
                }
            }
        }
        if let Some((result, bytes)) = call.result {
            let returned = self.return_node(context);
            self.carry(returned, result, bytes);
        }
    }

    /// A number is computed from what it gets.
    fn call_pure(&mut self, call: &Call) {
        let Some((to, _)) = call.result else { return };
        for argument in call.arguments.iter().filter_map(|argument| argument.node) {
            self.add_number(argument, to);
        }
    }

    /// Code outside the program keeps what it gets, and returns what it likes.
    fn call_outside(&mut self, call: &Call, callee: Option<FunctionId>) {
        for argument in call.arguments.iter().filter_map(|argument| argument.node) {
            self.graph.add_edge(argument, self.escaped);
        }
        if let Some((result, bytes)) = call.result
            && bytes >= u64::from(self.pointer_bytes)
        {
            self.has_outside_results |=
                callee.map_or(self.has_foreign_functions, |callee| !self.program.is_of_installed_library(callee));
            self.graph.add_edge(self.unknown_value, result);
        }
    }

    /// Code outside the program calls this function with whatever it holds.
    pub fn called_from_outside(&mut self, callee: FunctionId) {
        let program = self.program;
        let function = &program.functions[callee];
        if !function.is_defined() || self.models[callee].is_some_and(|model| model.is_override) {
            return;
        }
        self.edges.insert(CallEdge { caller: None, site: None, callee, kind: CallKind::Outside });
        let context = self.reach(callee, Origin::Any);
        for parameter in &function.parameters {
            let register = self.register(context, parameter.register);
            if program.layout.store_bytes(function.registers[parameter.register].ty) >= self.pointer_bytes.into() {
                self.graph.add_edge(self.unknown_value, register);
            }
        }
        let returned = self.return_node(context);
        self.graph.add_edge(returned, self.escaped);
    }

    /// The program begins here: `main` gets its arguments, other functions run as they are.
    pub fn start(&mut self, entry: FunctionId, kind: CallKind) {
        let program = self.program;
        let function = &program.functions[entry];
        if !function.is_defined() {
            return;
        }
        self.edges.insert(CallEdge { caller: None, site: None, callee: entry, kind });
        // What runs when the process ends, runs in the thread that ends it.
        let origin = if kind == CallKind::Destructor { Origin::Any } else { Origin::First };
        let context = self.reach(entry, origin);
        let arguments = self.holder(AbstractObject::new(AbstractObjectKind::Arguments), Class::ANY);
        self.store(Some(arguments), Some(arguments), self.pointer_bytes);
        for parameter in &function.parameters {
            if function.registers[parameter.register].ty == Type::POINTER {
                let register = self.register(context, parameter.register);
                self.graph.add_edge(arguments, register);
            }
        }
    }
}
