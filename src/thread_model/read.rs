//! From the document to the model: names are resolved, and what cannot be meant is refused.

use std::collections::{BTreeMap, BTreeSet};

use super::document::{Kind, Node};
use super::step::{self, Written};
use super::{
    Lock, LockIndex, LockKind, LockMode, ModelError, Place, Position, Procedure, ProcedureIndex, Query, Question, Step, StepKind,
    Term, Thread, ThreadIndex, ThreadModel, Variable, VariableIndex, expression,
};

const KEYS: [&str; 6] = ["locks", "variables", "procedures", "threads", "queries", "description"];
const THREAD_KEYS: [&str; 5] = ["instances", "holds", "entry", "procedures", "steps"];

pub fn model(document: &Node) -> Result<ThreadModel, ModelError> {
    document.map_of("a thread model", &KEYS)?;
    let mut reader = Reader { model: ThreadModel::default(), knows_all_locks: false, knows_all_variables: false };
    reader.locks(document.get("locks"))?;
    reader.variables(document.get("variables"))?;
    let Some(threads) =
        document.get("threads").filter(|threads| threads.map("a map of threads").is_ok_and(|threads| !threads.is_empty()))
    else {
        return document.error("a thread model needs `threads:` with at least one thread");
    };
    reader.headers(document.get("procedures"), threads)?;
    reader.bodies(document.get("procedures"), threads)?;
    reader.starts(threads)?;
    reader.check_labels(threads)?;
    reader.check_values()?;
    reader.queries(document.get("queries"))?;
    Ok(reader.model)
}

struct Reader {
    model: ThreadModel,
    /// The model lists its locks: others are mistakes.
    knows_all_locks: bool,
    knows_all_variables: bool,
}

impl Reader {
    fn locks(&mut self, node: Option<&Node>) -> Result<(), ModelError> {
        let Some(node) = node else { return Ok(()) };
        self.knows_all_locks = true;
        match &node.kind {
            Kind::List(names) => names.iter().try_for_each(|name| self.lock(name, LockKind::Mutex)),
            _ => node.map("a list of locks, or a map from locks to kinds")?.iter().try_for_each(|(name, kind)| {
                let kind = match kind.scalar("a kind of lock")? {
                    "mutex" => LockKind::Mutex,
                    "recursive" => LockKind::Recursive,
                    "rw" => LockKind::ReadWrite,
                    other => return kind.error(format!("`{other}` is no kind of lock; there are mutex, recursive, rw")),
                };
                self.lock(name, kind)
            }),
        }
    }

    fn lock(&mut self, node: &Node, kind: LockKind) -> Result<(), ModelError> {
        let name = new_name(node, "a lock", self.model.locks.iter().map(|lock| &lock.name))?;
        self.model.locks.push(Lock { name, kind, position: node.position });
        Ok(())
    }

    fn variables(&mut self, node: Option<&Node>) -> Result<(), ModelError> {
        let Some(node) = node else { return Ok(()) };
        self.knows_all_variables = true;
        let mut entries: Vec<(&Node, u8, bool)> = Vec::new();
        match &node.kind {
            Kind::List(names) => entries.extend(names.iter().map(|name| (name, 0, false))),
            _ => {
                for (name, value) in node.map("a list of variables, or a map from variables to initial values")? {
                    let (initial, is_atomic) = match &value.kind {
                        Kind::Map(_) => {
                            value.map_of("a variable", &["initial", "atomic"])?;
                            let initial = value.get("initial").map_or(Ok(0), |initial| number(initial, 255))?;
                            (initial, value.get("atomic").map_or(Ok(false), truth)?)
                        }
                        _ => (number(value, 255)?, false),
                    };
                    entries.push((name, initial as u8, is_atomic));
                }
            }
        }
        for (node, initial, is_atomic) in entries {
            let name = new_name(node, "a variable", self.model.variables.iter().map(|variable| &variable.name))?;
            self.model.variables.push(Variable { name, initial, is_atomic, position: node.position });
        }
        Ok(())
    }

    /// The names of all threads and procedures, so that steps may speak of later ones.
    fn headers(&mut self, shared: Option<&Node>, threads: &Node) -> Result<(), ModelError> {
        for (name, _) in shared.map_or(Ok(&[][..]), |node| node.map("a map of procedures"))? {
            self.procedure_header(name, None)?;
        }
        for (node, body) in threads.map("a map of threads")? {
            let name = new_name(node, "a thread", self.model.threads.iter().map(|thread| &thread.name))?;
            let thread = self.model.threads.len();
            let entry = self.model.procedures.len();
            self.model.threads.push(Thread { name, entry, instances: 1, holds: Vec::new(), position: node.position });
            match thread_procedures(node, body)? {
                Procedures::Steps(_) => self.procedure_header(node, Some(thread))?,
                Procedures::Map(procedures) => {
                    procedures.iter().try_for_each(|(name, _)| self.procedure_header(name, Some(thread)))?
                }
            }
            if let Some(entry) = body.get("entry") {
                let name = entry.scalar("the name of a procedure")?;
                self.model.threads[thread].entry = self.procedure(name, Some(thread)).or_else(|reason| entry.error(reason))?;
            }
        }
        Ok(())
    }

    fn procedure_header(&mut self, node: &Node, thread: Option<ThreadIndex>) -> Result<(), ModelError> {
        let visible = self.model.procedures.iter().filter(|procedure| procedure.thread.is_none() || procedure.thread == thread);
        let name = new_name(node, "a procedure", visible.map(|procedure| &procedure.name))?;
        let position = node.position;
        self.model.procedures.push(Procedure {
            name,
            thread,
            steps: Vec::new(),
            labels: BTreeMap::new(),
            position,
            end: position,
        });
        Ok(())
    }

    fn bodies(&mut self, shared: Option<&Node>, threads: &Node) -> Result<(), ModelError> {
        let mut bodies: Vec<&Node> = Vec::new();
        bodies.extend(shared.map_or(Ok(&[][..]), |node| node.map("a map of procedures"))?.iter().map(|(_, steps)| steps));
        for (node, body) in threads.map("a map of threads")? {
            match thread_procedures(node, body)? {
                Procedures::Steps(steps) => bodies.push(steps),
                Procedures::Map(procedures) => bodies.extend(procedures.iter().map(|(_, steps)| steps)),
            }
        }
        // Headers were made in this order.
        for (procedure, steps) in bodies.into_iter().enumerate() {
            self.body(procedure, steps)?;
        }
        Ok(())
    }

    fn body(&mut self, procedure: ProcedureIndex, node: &Node) -> Result<(), ModelError> {
        let (written, labels) = written_steps(node.list("a list of steps")?)?;
        let thread = self.model.procedures[procedure].thread;
        let target =
            |label: &str| labels.get(label).copied().ok_or_else(|| format!("there is no label `{label}` in this procedure"));
        let mut steps = Vec::new();
        for (position, step) in written {
            let kind = self.step(step, thread, &target).map_err(|reason| ModelError { line: position.line, reason })?;
            steps.push(Step { position, kind });
        }
        let header = &mut self.model.procedures[procedure];
        header.end = steps.last().map_or(header.position, |step| step.position);
        (header.steps, header.labels) = (steps, labels);
        Ok(())
    }

    fn step(
        &mut self,
        step: Written<'_>,
        thread: Option<ThreadIndex>,
        target: &dyn Fn(&str) -> Result<usize, String>,
    ) -> Result<StepKind, String> {
        Ok(match step {
            Written::Label(label) => unreachable!("`label {label}` was taken out with the labels"),
            Written::Acquire { lock, mode } => StepKind::Acquire { lock: self.lock_in_mode(lock, mode)?, mode },
            Written::Try { lock, mode, then, otherwise } => {
                let (then, otherwise) = (then.map(target).transpose()?, otherwise.map(target).transpose()?);
                StepKind::Try { lock: self.lock_in_mode(lock, mode)?, mode, then, otherwise }
            }
            Written::Release(lock) => StepKind::Release { lock: self.lock_named(lock)? },
            Written::Call(name) => StepKind::Call { procedure: self.procedure(name, thread)? },
            Written::Read(variable) => StepKind::Read { variable: self.variable_named(variable)? },
            Written::Write(variable) => StepKind::Write { variable: self.variable_named(variable)? },
            Written::Goto(targets) => StepKind::Goto { targets: targets.into_iter().map(target).collect::<Result<_, _>>()? },
            Written::Begin(unit) => StepKind::Begin { unit: self.unit(unit) },
            Written::End(unit) => StepKind::End { unit: self.unit(unit) },
            Written::Spawn(name) => StepKind::Spawn { thread: self.thread_named(name)? },
            Written::Join(name) => StepKind::Join { thread: self.thread_named(name)? },
            Written::Assume(text) => {
                StepKind::Assume { condition: expression::condition(text, &mut |name| self.variable_named(name))? }
            }
            Written::Assign { variable, expression } => StepKind::Assign {
                variable: self.variable_named(variable)?,
                expression: expression::expression(expression, &mut |name| self.variable_named(name))?,
            },
            Written::Skip => StepKind::Skip,
            Written::Return => StepKind::Return,
        })
    }

    fn lock_named(&mut self, name: &str) -> Result<LockIndex, String> {
        match self.model.locks.iter().position(|lock| lock.name == name) {
            Some(lock) => Ok(lock),
            None if self.knows_all_locks => Err(format!("there is no lock `{name}`; add it to `locks:`")),
            None => {
                self.model.locks.push(Lock { name: name.to_owned(), kind: LockKind::Mutex, position: Position::default() });
                Ok(self.model.locks.len() - 1)
            }
        }
    }

    fn lock_in_mode(&mut self, name: &str, mode: LockMode) -> Result<LockIndex, String> {
        let lock = self.lock_named(name)?;
        if mode == LockMode::Shared && self.model.locks[lock].kind != LockKind::ReadWrite {
            return Err(format!("`{name}` cannot be taken shared; write `{name}: rw` in `locks:`"));
        }
        Ok(lock)
    }

    fn variable_named(&mut self, name: &str) -> Result<VariableIndex, String> {
        match self.model.variables.iter().position(|variable| variable.name == name) {
            Some(variable) => Ok(variable),
            None if !step::is_name(name) => Err(format!("`{name}` is no variable and no number")),
            None if self.knows_all_variables => Err(format!("there is no variable `{name}`; add it to `variables:`")),
            None => {
                self.model.variables.push(Variable {
                    name: name.to_owned(),
                    initial: 0,
                    is_atomic: false,
                    position: Position::default(),
                });
                Ok(self.model.variables.len() - 1)
            }
        }
    }

    fn thread_named(&self, name: &str) -> Result<ThreadIndex, String> {
        self.model.threads.iter().position(|thread| thread.name == name).ok_or_else(|| format!("there is no thread `{name}`"))
    }

    /// A procedure of the thread, or a shared one.
    fn procedure(&self, name: &str, thread: Option<ThreadIndex>) -> Result<ProcedureIndex, String> {
        let is_callable =
            |procedure: &Procedure| procedure.name == name && (procedure.thread.is_none() || procedure.thread == thread);
        self.model.procedures.iter().position(is_callable).ok_or_else(|| format!("there is no procedure `{name}` here"))
    }

    fn unit(&mut self, name: &str) -> usize {
        self.model.units.iter().position(|unit| unit == name).unwrap_or_else(|| {
            self.model.units.push(name.to_owned());
            self.model.units.len() - 1
        })
    }

    /// Which threads exist at the start, and what they hold.
    fn starts(&mut self, threads: &Node) -> Result<(), ModelError> {
        let steps = || self.model.procedures.iter().flat_map(|procedure| &procedure.steps);
        let spawned: BTreeSet<ThreadIndex> =
            steps().filter_map(|step| if let StepKind::Spawn { thread } = step.kind { Some(thread) } else { None }).collect();
        for (thread, (node, body)) in threads.map("a map of threads")?.iter().enumerate() {
            let instances = match body.get("instances") {
                Some(instances) => number(instances, 15)?,
                None => usize::from(!spawned.contains(&thread)),
            };
            self.model.threads[thread].instances = instances;
            let Some(held) = body.get("holds") else { continue };
            if instances != 1 || spawned.contains(&thread) {
                return node.error("only a thread with one instance, which nobody spawns, can hold locks at the start");
            }
            for lock in held.list("a list of locks")? {
                let text = format!("acquire {}", lock.scalar("a lock")?);
                let written = step::parse(&text);
                let Ok(Written::Acquire { lock: name, mode }) = written else { return lock.error("write a lock, or `L shared`") };
                let index = self.lock_in_mode(name, mode).or_else(|reason| lock.error(reason))?;
                let conflicts = |other: &(LockIndex, LockMode)| {
                    other.0 == index && !(mode == LockMode::Shared && other.1 == LockMode::Shared)
                };
                if self.model.threads.iter().any(|thread| thread.holds.iter().any(conflicts))
                    || self.model.threads[thread].holds.contains(&(index, mode))
                {
                    return lock.error(format!("`{name}` is held already"));
                }
                self.model.threads[thread].holds.push((index, mode));
            }
        }
        if self.model.threads.iter().all(|thread| thread.instances == 0) {
            return threads.error("no thread exists at the start: give one `instances: 1`");
        }
        self.check_joins()
    }

    fn check_joins(&self) -> Result<(), ModelError> {
        for thread in 0..self.model.threads.len() {
            let procedures = self.model.procedures_of(thread);
            let steps = || procedures.iter().flat_map(|procedure| &self.model.procedures[*procedure].steps);
            for step in steps() {
                let StepKind::Join { thread: joined } = step.kind else { continue };
                if !steps().any(|step| step.kind == StepKind::Spawn { thread: joined }) {
                    let (joiner, joined) = (&self.model.threads[thread].name, &self.model.threads[joined].name);
                    let reason =
                        format!("`{joiner}` joins `{joined}` but never spawns it: a thread joins what it has spawned itself");
                    return Err(ModelError { line: step.position.line, reason });
                }
            }
        }
        Ok(())
    }

    /// `T@N` must name one place.
    fn check_labels(&self, threads: &Node) -> Result<(), ModelError> {
        for (thread, (node, _)) in threads.map("a map of threads")?.iter().enumerate() {
            let mut seen = BTreeSet::new();
            for procedure in self.model.procedures_of(thread) {
                for label in self.model.procedures[procedure].labels.keys() {
                    if !seen.insert(label) {
                        let name = &self.model.threads[thread].name;
                        return node.error(format!("two procedures of `{name}` have a label `{label}`; rename one"));
                    }
                }
            }
        }
        Ok(())
    }

    /// What `write` leaves in a variable is not known: nothing may depend on it.
    fn check_values(&self) -> Result<(), ModelError> {
        let steps = || self.model.procedures.iter().flat_map(|procedure| &procedure.steps);
        let mut looked_at = BTreeSet::new();
        for step in steps() {
            match &step.kind {
                StepKind::Assume { condition } => looked_at.extend(Term::variables(condition.left, condition.right)),
                StepKind::Assign { expression, .. } => looked_at.extend(Term::variables(expression.left, expression.right)),
                _ => {}
            }
        }
        for step in steps() {
            if let StepKind::Write { variable } = step.kind
                && looked_at.contains(&variable)
            {
                let name = &self.model.variables[variable].name;
                let reason =
                    format!("a condition looks at `{name}`, so `write {name}` must say what it writes: use `assign {name} = …`");
                return Err(ModelError { line: step.position.line, reason });
            }
        }
        Ok(())
    }

    fn queries(&mut self, node: Option<&Node>) -> Result<(), ModelError> {
        for item in node.map_or(Ok(&[][..]), |node| node.list("a list of queries"))? {
            let entries =
                item.map_of("a query", &["reachable", "race", "deadlock", "atomic", "phase", "ltl", "expect", "because"])?;
            let asked: Vec<&(Node, Node)> =
                entries.iter().filter(|(key, _)| !matches!(key.scalar("a key"), Ok("expect" | "because"))).collect();
            let [(key, value)] = asked[..] else {
                return item.error("a query asks one thing: `reachable: [T1@N, T2@M]`, `race: X` or `deadlock: true`");
            };
            let (question, text) = self.question(key.scalar("a key")?, value)?;
            let expect = item.get("expect").map(truth).transpose()?;
            self.model.queries.push(Query { position: key.position, question, expect, text });
        }
        Ok(())
    }

    fn question(&mut self, key: &str, value: &Node) -> Result<(Question, String), ModelError> {
        match key {
            "reachable" => {
                let places = value.list("a list of places T@N")?;
                if places.is_empty() {
                    return value.error("`reachable` needs places: write `[T1@N, T2@M]`");
                }
                let text = places.iter().map(|place| place.scalar("a place T@N")).collect::<Result<Vec<_>, _>>()?.join(", ");
                let places = places.iter().map(|place| self.place(place)).collect::<Result<_, _>>()?;
                Ok((Question::Reachable(places), format!("reachable [{text}]")))
            }
            "race" => {
                let name = value.scalar("a variable")?;
                let known = self.model.variables.iter().position(|variable| variable.name == name);
                let Some(variable) = known else { return value.error(format!("no step uses a variable `{name}`")) };
                Ok((Question::Race(variable), format!("race {name}")))
            }
            "deadlock" => match truth(value)? {
                true => Ok((Question::Deadlock, "deadlock".to_owned())),
                false => value.error("write `deadlock: true` and say with `expect: false` that there is none"),
            },
            other => Ok((Question::Other(other.to_owned()), other.to_owned())),
        }
    }

    fn place(&self, node: &Node) -> Result<Place, ModelError> {
        let text = node.scalar("a place T@N")?;
        let Some((thread, label)) = text.split_once('@') else {
            return node.error(format!("`{text}` is no place: write thread@label"));
        };
        let thread = self.thread_named(thread.trim()).or_else(|reason| node.error(reason))?;
        let label = label.trim().to_owned();
        let knows = |procedure: &ProcedureIndex| self.model.procedures[*procedure].labels.contains_key(&label);
        match self.model.procedures_of(thread).iter().any(knows) {
            true => Ok(Place { thread, label }),
            false => {
                node.error(format!("no procedure that `{}` comes to has a label `{label}`", self.model.threads[thread].name))
            }
        }
    }
}

enum Procedures<'n> {
    /// One procedure, named as the thread.
    Steps(&'n Node),
    Map(&'n [(Node, Node)]),
}

fn thread_procedures<'n>(name: &Node, body: &'n Node) -> Result<Procedures<'n>, ModelError> {
    if matches!(body.kind, Kind::List(_)) {
        return Ok(Procedures::Steps(body));
    }
    body.map_of("a thread", &THREAD_KEYS)?;
    match (body.get("steps"), body.get("procedures")) {
        (Some(steps), None) => Ok(Procedures::Steps(steps)),
        (None, Some(procedures)) => match procedures.map("a map of procedures")? {
            [] => procedures.error("`procedures:` needs at least one procedure"),
            procedures => Ok(Procedures::Map(procedures)),
        },
        (None, None) if body.get("entry").is_some() => Ok(Procedures::Map(&[])),
        (Some(_), Some(_)) => body.error("a thread has `steps:` or `procedures:`, not both"),
        (None, None) => {
            name.error("a thread needs a list of steps, `steps:`, `procedures:`, or `entry:` with a shared procedure")
        }
    }
}

/// The steps without their labels, and the labels.
#[allow(clippy::type_complexity)]
fn written_steps(nodes: &[Node]) -> Result<(Vec<(Position, Written<'_>)>, BTreeMap<String, usize>), ModelError> {
    let mut steps = Vec::new();
    let mut labels: BTreeMap<String, usize> = BTreeMap::new();
    for node in nodes {
        let (label, text) = match &node.kind {
            Kind::Map(entries) => match entries.as_slice() {
                [(label, step)] => (Some((label, label.scalar("a label")?)), step),
                _ => return node.error("a step is one line: `acquire a`, or `N: acquire a` with a label"),
            },
            _ => (None, node),
        };
        let position = text.position;
        let written = step::parse(text.scalar("a step")?).or_else(|reason| text.error(reason))?;
        let mut add = |node: &Node, label: &str| match () {
            () if !step::is_name(label) || step::WORDS.contains(&label) => {
                node.error(format!("`{label}` cannot be a label; write `- {label} …` for a step"))
            }
            () if labels.insert(label.to_owned(), steps.len()).is_some() => {
                node.error(format!("the label `{label}` occurs twice"))
            }
            () => Ok(()),
        };
        if let Some((node, label)) = label {
            add(node, label)?;
        }
        match written {
            Written::Label(label) => add(text, label)?,
            step => steps.push((position, step)),
        }
    }
    Ok((steps, labels))
}

fn new_name<'a>(node: &Node, what: &str, mut known: impl Iterator<Item = &'a String>) -> Result<String, ModelError> {
    let name = node.scalar(&format!("the name of {what}"))?;
    if !step::is_name(name) || name.starts_with(|c: char| c.is_ascii_digit()) {
        return node.error(format!("`{name}` cannot name {what}: use letters, digits and _"));
    }
    if known.any(|known| known == name) {
        return node.error(format!("there is {what} `{name}` already"));
    }
    Ok(name.to_owned())
}

fn number(node: &Node, greatest: usize) -> Result<usize, ModelError> {
    let text = node.scalar("a number")?;
    match text.parse() {
        Ok(number) if number <= greatest => Ok(number),
        _ => node.error(format!("`{text}` is no number from 0 to {greatest}")),
    }
}

fn truth(node: &Node) -> Result<bool, ModelError> {
    match node.scalar("true or false")? {
        "true" | "yes" => Ok(true),
        "false" | "no" => Ok(false),
        other => node.error(format!("`{other}` is neither true nor false")),
    }
}
