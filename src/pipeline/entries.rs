//! Where a program begins: in `main`, or, for a library, in the functions that code outside calls.
//!
//! Static engines take each entry of a library as called at any time, any number of times, with arguments of which nothing is known; `main` among
//! the entries runs once. A run needs arguments: only `main`, or entries that take none, are executed. One entry alone is executed once; of several
//! each is called by two threads at once, which its users may do.

use std::collections::BTreeSet;

use crate::program::{Callee, Constant, Function, FunctionId, Operation, Program, RelocationTarget};

const MAIN: &str = "main";

/// Functions of the program, by their link names; never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entries(Vec<String>);

impl Default for Entries {
    fn default() -> Self {
        Entries(vec![MAIN.to_owned()])
    }
}

impl Entries {
    /// The defined functions with these names, in the source or for the linker, or the first name that none has. A static function may
    /// have its name several times: all of them are meant.
    pub fn named(program: &Program, names: &[String]) -> Result<Entries, String> {
        let mut entries: Vec<String> = Vec::new();
        for name in names {
            let is_meant =
                |function: &&Function| function.is_defined() && (function.name == *name || function.source_name == *name);
            let found: Vec<String> = program.functions.iter().filter(is_meant).map(|function| function.name.clone()).collect();
            if found.is_empty() {
                return Err(name.clone());
            }
            entries.extend(found.into_iter().filter(|one| !entries.contains(one)).collect::<Vec<String>>());
        }
        Ok(if entries.is_empty() { Entries::default() } else { Entries(entries) })
    }

    /// For the static engines; `None` for a program that begins in `main` alone.
    pub fn of_library(&self, program: &Program) -> Option<Vec<FunctionId>> {
        let ids = || self.0.iter().filter_map(|name| program.function_named(name)).collect();
        self.is_library().then(ids)
    }

    pub fn is_library(&self) -> bool {
        *self != Entries::default()
    }

    /// The function that a run begins with.
    pub fn first(&self) -> &str {
        self.0.iter().find(|name| *name == MAIN).unwrap_or(&self.0[0])
    }

    /// Why nothing can be executed.
    pub fn not_executed(&self, program: &Program) -> Option<String> {
        let takes_some =
            |name: &&String| program.function_named(name).is_none_or(|id| !program.functions[id].parameters.is_empty());
        if self.first() == MAIN {
            None
        } else if let Some(name) = self.0.iter().find(takes_some) {
            Some(format!("nothing is executed: nothing says with which arguments {name} is called"))
        } else if self.0.len() > 1 && !program.constructors.is_empty() {
            Some("nothing is executed: constructors run before the entries of a library are called".to_owned())
        } else {
            None
        }
    }

    /// The calls that a run makes beside the first one: with it, each of several entries twice.
    pub fn beside(&self, program: &Program) -> Vec<String> {
        if self.0.len() == 1 || self.first() == MAIN || self.not_executed(program).is_some() {
            return Vec::new();
        }
        self.0.iter().skip(1).chain(&self.0).cloned().collect()
    }

    /// What a run leaves out, in words.
    pub fn left_out(&self) -> Option<String> {
        let others: Vec<&str> = self.0.iter().map(String::as_str).filter(|name| *name != self.first()).collect();
        match self.first() {
            _ if others.is_empty() => None,
            MAIN => Some(format!("calls of {} from outside were not executed", others.join(", "))),
            _ => Some("each entry was called twice, and not more often".to_owned()),
        }
    }
}

/// The functions that a library seems to be made for: nothing in it calls them or keeps their address. So many of them at most.
pub fn suggested(program: &Program, most: usize) -> Vec<String> {
    let instructions = program.functions.iter().flat_map(|function| &function.blocks).flat_map(|block| &block.instructions);
    let called = instructions.filter_map(|instruction| match &instruction.operation {
        Operation::Call { callee: Callee::Direct(callee), .. } => Some(*callee),
        _ => None, // indirect calls need an address, which is a constant somewhere
    });
    let in_code = program.constants.iter().filter_map(|(_, constant)| match constant {
        Constant::Function(function) => Some(*function),
        _ => None, // no function
    });
    let relocations = program.globals.iter().flat_map(|global| &global.relocations);
    let in_data = relocations.filter_map(|relocation| match relocation.target {
        RelocationTarget::Function(function) => Some(function),
        RelocationTarget::Global(_) | RelocationTarget::Block(..) => None,
    });
    let by_the_loader = program.constructors.iter().chain(&program.destructors).copied();
    let used: BTreeSet<FunctionId> = called.chain(in_code).chain(in_data).chain(by_the_loader).collect();
    let unused = program.functions.iter_enumerated().filter(|(id, function)| function.is_defined() && !used.contains(id));
    unused.take(most).map(|(_, function)| function.source_name.clone()).collect()
}
