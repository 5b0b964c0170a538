//! Tables made once for a program and shared by all its machines: constants as values, addresses, what a call of each function does.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use typed_index_collections::TiVec;

use crate::explore::evaluate::Addresses;
use crate::explore::value::{ObjectId, Pointer, ScalarValue, Value};
use crate::models::builtin::Builtin;
use crate::models::{CallbackTime, Effect, FunctionModel};
use crate::program::{BlockId, ConstantId, Function, FunctionId, GlobalId, Program, TerminatorKind};

/// What a call of a function does.
#[derive(Clone, Debug)]
pub enum Callable {
    Body {
        is_atomic: bool,
    },
    /// One builtin does it all, without synchronisation.
    Builtin(Builtin),
    Library(Arc<FunctionModel>),
    /// Neither a body nor a model.
    Unknown,
}

pub struct Prepared {
    /// Of the program.
    pub fingerprint: u64,
    pub constants: TiVec<ConstantId, Value>,
    pub callables: TiVec<FunctionId, Callable>,
    pub functions: TiVec<FunctionId, Pointer>,
    /// `None` for thread-local ones.
    pub globals: TiVec<GlobalId, Option<Pointer>>,
    pub blocks: BTreeMap<(FunctionId, BlockId), Pointer>,
    /// Defined elsewhere and unknown to the machine: touching one is an assumption.
    pub unknown_globals: BTreeMap<ObjectId, GlobalId>,
    /// Globals whose every access is taken as atomic, on request.
    pub assumed_atomic: BTreeMap<ObjectId, GlobalId>,
    /// Where each case of a large switch goes. Only looked up, never walked through.
    pub switches: HashMap<(FunctionId, BlockId), HashMap<u128, BlockId>>,
}

/// A switch with more cases than this is looked up, not walked through.
pub const FEW_CASES: usize = 8;

/// The cases of all large switches, by the number that is switched on.
pub fn switches(
    program: &Program,
    constants: &TiVec<ConstantId, Value>,
) -> HashMap<(FunctionId, BlockId), HashMap<u128, BlockId>> {
    let mut switches = HashMap::new();
    for (function, body) in program.functions.iter_enumerated() {
        for (block, content) in body.blocks.iter_enumerated() {
            let TerminatorKind::Switch { cases, .. } = &content.terminator.kind else { continue };
            if cases.len() <= FEW_CASES {
                continue;
            }
            let number = |constant: ConstantId| match &constants[constant] {
                Value::Scalar(ScalarValue::Integer { value, .. }) => Some(*value),
                _ => None,
            };
            // Reversed, so that the first of equal cases stays.
            let table = cases.iter().rev().filter_map(|(case, target)| Some((number(*case)?, *target))).collect();
            switches.insert((function, block), table);
        }
    }
    switches
}

/// A body is executed unless a user's entry replaces it.
pub fn callables(program: &Program, models: &[Option<&FunctionModel>]) -> TiVec<FunctionId, Callable> {
    let of = |(id, function): (FunctionId, &Function)| {
        let model = models.get(usize::from(id)).copied().flatten();
        let is_about_body = model.is_some_and(|model| model.effects.contains(&Effect::AtomicBody));
        match model {
            _ if function.is_defined() && is_about_body => Callable::Body { is_atomic: true },
            Some(model) if model.is_override || !function.is_defined() && !is_about_body => match model.builtin {
                Some(builtin) if model.effects.iter().all(is_done_by_builtin) => Callable::Builtin(builtin),
                _ => Callable::Library(Arc::new(model.clone())),
            },
            _ if function.is_defined() => Callable::Body { is_atomic: false },
            _ => Callable::Unknown,
        }
    };
    program.functions.iter_enumerated().map(of).collect()
}

/// What a builtin does itself when it is executed: its effects are there for analyses that do not execute it.
pub fn is_done_by_builtin(effect: &Effect) -> bool {
    matches!(
        effect,
        Effect::Reads(_)
            | Effect::Writes(_)
            | Effect::Allocate { .. }
            | Effect::Reallocate { .. }
            | Effect::Free { .. }
            | Effect::Choose
            | Effect::ChooseBytes(_)
            | Effect::Returns { .. }
            | Effect::Callback { when: CallbackTime::During, .. }
    )
}

impl Addresses for Prepared {
    fn global(&self, global: GlobalId) -> Pointer {
        self.globals[global].expect("an operand never names a thread-local global")
    }

    fn function(&self, function: FunctionId) -> Pointer {
        self.functions[function]
    }

    fn block(&self, function: FunctionId, block: BlockId) -> Pointer {
        self.blocks[&(function, block)]
    }
}
