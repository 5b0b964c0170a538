//! The functions of which nothing is known, for people: what `lockcheck emit externals` prints.
//!
//! Verdicts take for granted that such a function touches nothing and calls nothing. The text is a `.lockcheck.yaml` in which every entry is still a
//! comment: as long as nobody has filled one in and removed the marks, it changes nothing.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::entries::Entries;
use crate::deadline::Deadline;
use crate::facts::{AbstractObjectId, AbstractObjectKind, Accesses, CallGraph, Escape, PointsTo, ThreadId, Threads};
use crate::models::{BoundModels, Models};
use crate::program::describe::Names;
use crate::program::{Argument, Constant, FunctionId, Operand, Operation, Place, Program, Scalar, SiteId, Type};

/// So many names of one kind are listed; the rest is counted.
const MOST_NAMES: usize = 4;

/// All of them, the most used one first.
pub fn externals(program: &Program, models: &Models, entries: &Entries) -> String {
    let bound = models.bind(program);
    let entries = entries.of_library(program);
    let points_to = PointsTo::within(program, &bound, entries.as_deref(), Deadline::NEVER).expect("nothing ends it early");
    let calls = CallGraph::of(&points_to);
    let accesses = Accesses::of(program, &bound, &points_to);
    let threads = Threads::of(program, &bound, (&points_to, &calls, &accesses), entries.as_deref());
    let escape = Escape::of(&points_to);
    let survey = Survey { program, points_to: &points_to, calls: &calls, threads: &threads, escape: &escape };
    let mut externals: Vec<(FunctionId, Uses)> = survey.uses(&bound).into_iter().collect();
    externals.sort_by_key(|(id, uses)| (Reverse(uses.sites.len()), program.functions[*id].name.clone()));
    survey.print(&externals)
}

/// How one external function is used.
#[derive(Default)]
struct Uses {
    sites: BTreeSet<SiteId>,
    callers: BTreeSet<FunctionId>,
    /// By position.
    arguments: Vec<Passed>,
}

/// What is handed over in one position, at all call sites.
#[derive(Default)]
struct Passed {
    is_pointer: bool,
    is_float: bool,
    /// Memory, in the words of the source.
    memory: BTreeSet<String>,
    functions: BTreeSet<String>,
    /// Another thread may reach some of that memory.
    is_shared: bool,
}

struct Survey<'a> {
    program: &'a Program,
    points_to: &'a PointsTo,
    calls: &'a CallGraph,
    threads: &'a Threads,
    escape: &'a Escape,
}

impl Survey<'_> {
    fn uses(&self, models: &BoundModels<'_>) -> BTreeMap<FunctionId, Uses> {
        let mut externals: BTreeMap<FunctionId, Uses> = BTreeMap::new();
        let is_unknown = |callee: &&FunctionId| models[**callee].is_none() && !self.program.functions[**callee].is_defined();
        for caller in self.calls.reachable() {
            let function = &self.program.functions[*caller];
            let names = Names::new(self.program, *caller);
            for instruction in function.blocks.iter().flat_map(|block| &block.instructions) {
                let Operation::Call { arguments, .. } = &instruction.operation else { continue };
                for callee in self.points_to.callees(instruction.site).iter().filter(is_unknown) {
                    let uses = externals.entry(*callee).or_default();
                    uses.sites.insert(instruction.site);
                    uses.callers.insert(*caller);
                    for (position, argument) in arguments.iter().enumerate() {
                        if uses.arguments.len() <= position {
                            uses.arguments.push(Passed::default());
                        }
                        self.pass(&mut uses.arguments[position], *caller, argument, &names);
                    }
                }
            }
        }
        externals
    }

    fn pass(&self, passed: &mut Passed, caller: FunctionId, argument: &Argument, names: &Names<'_>) {
        match self.program.type_of(&self.program.functions[caller], argument.value) {
            Type::Scalar(Scalar::Pointer) => passed.is_pointer = true,
            ty => passed.is_float |= ty.element().is_some_and(Scalar::is_float),
        }
        // Numbers may carry addresses; but nobody calls such a number memory.
        if !passed.is_pointer || self.is_null(argument.value) {
            return;
        }
        let (mut functions, mut has_memory) = (Vec::new(), false);
        for location in self.points_to.pointees(caller, argument.value) {
            match self.points_to.object(location.object).kind {
                AbstractObjectKind::Function(function) => functions.push(self.program.functions[function].source_name.clone()),
                _ => {
                    has_memory = true;
                    passed.is_shared |= self.escape.is_shared(location.object) && !self.is_only_read(location.object);
                }
            }
        }
        // A pointer of which little is known may point to memory or to functions: then it is memory that is meant.
        match has_memory {
            // A literal has no name.
            true => passed.memory.extend(names.address(argument.value).filter(|name| !name.is_empty())),
            false => passed.functions.extend(functions),
        }
    }

    fn is_null(&self, operand: Operand) -> bool {
        matches!(operand, Operand::Constant(constant) if self.program.constants[constant] == Constant::Null)
    }

    /// A constant: nobody minds who reads it.
    fn is_only_read(&self, object: AbstractObjectId) -> bool {
        match self.points_to.object(object).kind {
            AbstractObjectKind::Global(global) => self.program.globals[global].is_constant,
            AbstractObjectKind::Texts => true,
            _ => false,
        }
    }

    /// The threads in which one of these functions may run.
    fn threads_of(&self, functions: &BTreeSet<FunctionId>) -> Vec<String> {
        let mut above: BTreeSet<FunctionId> = functions.clone();
        let mut open: Vec<FunctionId> = functions.iter().copied().collect();
        while let Some(callee) = open.pop() {
            for edge in self.calls.calls_of(callee).iter().filter(|edge| edge.kind.is_nested()) {
                open.extend(edge.caller.filter(|caller| above.insert(*caller)));
            }
        }
        let roots = self.threads.roots().iter().filter(|root| above.contains(&root.function));
        let threads: BTreeSet<ThreadId> = roots.map(|root| root.thread).collect();
        threads.into_iter().map(|thread| self.threads.name(self.program, thread)).collect()
    }

    fn print(&self, externals: &[(FunctionId, Uses)]) -> String {
        if externals.is_empty() {
            return "# Every function that is called has a body or a model.\n".to_owned();
        }
        let mut text = format!(
            "# {} called, but neither with a body nor in a model. Verdicts rest on the assumption that they touch\n\
             # nothing, take no locks and call nothing back. Where you know better: keep the lines that are true, remove the rest and the\n\
             # marks, and put the result into .lockcheck.yaml beside your sources. An entry of a name alone says: it touches nothing.\n\
             functions:\n",
            counted(externals.len(), "function is", "functions are")
        );
        for (id, uses) in externals {
            self.print_one(&mut text, *id, uses).expect("a string can be written to");
        }
        text
    }

    fn print_one(&self, text: &mut String, id: FunctionId, uses: &Uses) -> std::fmt::Result {
        let function = &self.program.functions[id];
        let callers: Vec<String> =
            uses.callers.iter().map(|caller| self.program.functions[*caller].source_name.clone()).collect();
        let first: Option<Place> = uses.sites.iter().filter_map(|site| self.program.place_of(*site)).min();
        let at = first.map_or(String::new(), |place| format!(", first at {}:{}", place.file, place.line));
        writeln!(text, "\n# {}: {}{at}", function.name, counted(uses.sites.len(), "call", "calls"))?;
        writeln!(text, "#   from {}", some(&callers))?;
        writeln!(text, "#   in threads {}", some(&self.threads_of(&uses.callers)))?;
        for (position, passed) in uses.arguments.iter().enumerate() {
            writeln!(text, "#   argument {position}: {passed}")?;
        }
        writeln!(text, "#  - name: {}", quoted(&function.name))?;
        for line in suggestions(uses, function.return_type) {
            writeln!(text, "#    {line}")?;
        }
        Ok(())
    }
}

/// What could be said of such a function, in the notation of models; each line is for a person to keep or to drop.
fn suggestions(uses: &Uses, returns: Type) -> Vec<String> {
    let positions = |is_wanted: &dyn Fn(&Passed) -> bool| -> Vec<usize> {
        uses.arguments.iter().enumerate().filter(|(_, passed)| is_wanted(passed)).map(|(position, _)| position).collect()
    };
    let list = |positions: &[usize]| positions.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
    let memory = positions(&|passed| passed.is_pointer && passed.functions.is_empty());
    let mut lines = Vec::new();
    if !memory.is_empty() {
        lines.push(format!("reads: [{}]", list(&memory)));
        lines.push(format!("writes: [{}]", list(&memory)));
    }
    for routine in positions(&|passed| !passed.functions.is_empty()) {
        let arguments = list(&memory);
        lines.push(format!("callback: {{routine: {routine}, arguments: [{arguments}], when: during}}"));
        let argument =
            memory.iter().find(|position| **position > routine).map_or(String::new(), |at| format!(", argument: {at}"));
        lines.push(format!("spawn: {{entry: {routine}{argument}, count: many}}"));
    }
    if let (Type::Scalar(Scalar::Pointer), [first, ..]) = (returns, memory.as_slice()) {
        lines.push(format!("returns: {first}"));
    }
    if returns == Type::Scalar(Scalar::Pointer) {
        lines.push("allocate: {size: unknown}".to_owned());
    }
    lines
}

impl std::fmt::Display for Passed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if !self.is_pointer {
            return f.write_str(if self.is_float { "a floating-point number" } else { "a number" });
        }
        let names = |names: &BTreeSet<String>| some(&names.iter().cloned().collect::<Vec<_>>());
        match (self.functions.is_empty(), self.memory.is_empty()) {
            (false, _) => write!(f, "the functions {}", names(&self.functions)),
            (true, false) => write!(f, "the address of {}", names(&self.memory)),
            (true, true) => f.write_str("a pointer"),
        }?;
        f.write_str(if self.is_shared { "; threads share it" } else { "" })
    }
}

/// The first few of a list, and how many there are besides.
fn some(names: &[String]) -> String {
    let shown = names.iter().take(MOST_NAMES).cloned().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(MOST_NAMES) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// A name that YAML takes for a string.
fn quoted(name: &str) -> String {
    let is_plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if is_plain { name.to_owned() } else { format!("{name:?}") }
}
