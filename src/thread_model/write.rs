//! A model as text again: what was read from it is the same model.

use std::fmt::{self, Write};

use super::{Condition, Expression, LockKind, LockMode, Procedure, ProcedureIndex, Question, StepKind, Term, ThreadModel};

impl fmt::Display for ThreadModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = |kind| match kind {
            LockKind::Mutex => "mutex",
            LockKind::Recursive => "recursive",
            LockKind::ReadWrite => "rw",
        };
        let locks: Vec<String> = self.locks.iter().map(|lock| format!("{}: {}", lock.name, kind(lock.kind))).collect();
        writeln!(f, "locks: {{{}}}", locks.join(", "))?;
        let variables = self
            .variables
            .iter()
            .map(|variable| format!("{}: {{initial: {}, atomic: {}}}", variable.name, variable.initial, variable.is_atomic));
        writeln!(f, "variables: {{{}}}", variables.collect::<Vec<_>>().join(", "))?;
        let shared = || self.procedures.iter().filter(|procedure| procedure.thread.is_none());
        if shared().next().is_some() {
            writeln!(f, "procedures:")?;
            shared().try_for_each(|procedure| self.write_procedure(f, procedure, "  "))?;
        }
        writeln!(f, "threads:")?;
        for (index, thread) in self.threads.iter().enumerate() {
            writeln!(f, "  {}:\n    instances: {}", thread.name, thread.instances)?;
            if !thread.holds.is_empty() {
                let holds = thread.holds.iter().map(|(lock, mode)| format!("{}{}", self.locks[*lock].name, suffix(*mode)));
                writeln!(f, "    holds: [{}]", holds.collect::<Vec<_>>().join(", "))?;
            }
            writeln!(f, "    entry: {}", self.procedures[thread.entry].name)?;
            let own = || self.procedures.iter().filter(|procedure| procedure.thread == Some(index));
            if own().next().is_some() {
                writeln!(f, "    procedures:")?;
                own().try_for_each(|procedure| self.write_procedure(f, procedure, "      "))?;
            }
        }
        if !self.queries.is_empty() {
            writeln!(f, "queries:")?;
        }
        for query in &self.queries {
            let question = match &query.question {
                Question::Reachable(places) => {
                    let places = places.iter().map(|place| format!("{}@{}", self.threads[place.thread].name, place.label));
                    format!("reachable: [{}]", places.collect::<Vec<_>>().join(", "))
                }
                Question::Race(variable) => format!("race: {}", self.variables[*variable].name),
                Question::Deadlock => "deadlock: true".to_owned(),
                Question::Other(key) => format!("{key}: true"),
            };
            let expect = query.expect.map_or(String::new(), |expect| format!(", expect: {expect}"));
            writeln!(f, "  - {{{question}{expect}}}")?;
        }
        Ok(())
    }
}

fn suffix(mode: LockMode) -> &'static str {
    if mode == LockMode::Shared { " shared" } else { "" }
}

impl ThreadModel {
    fn write_procedure(&self, f: &mut dyn Write, procedure: &Procedure, indent: &str) -> fmt::Result {
        writeln!(
            f,
            "{indent}{}:{}",
            procedure.name,
            if procedure.steps.is_empty() && procedure.labels.is_empty() { " []" } else { "" }
        )?;
        let labels = |at: usize| procedure.labels.iter().filter(move |(_, position)| **position == at);
        let index = self.procedures.iter().position(|other| std::ptr::eq(other, procedure)).expect("a procedure of this model");
        for (at, step) in procedure.steps.iter().enumerate() {
            labels(at).try_for_each(|(label, _)| writeln!(f, "{indent}  - label {label}"))?;
            writeln!(f, "{indent}  - {}", self.step_text(index, &step.kind))?;
        }
        labels(procedure.steps.len()).try_for_each(|(label, _)| writeln!(f, "{indent}  - label {label}"))
    }

    /// A step of a procedure, or its end, with its line.
    pub fn place_text(&self, (procedure, step): (ProcedureIndex, usize)) -> String {
        let body = &self.procedures[procedure];
        match body.steps.get(step) {
            Some(step) => format!("line {}: {}", step.position.line, self.step_text(procedure, &step.kind)),
            None => format!("line {}: end of {}", body.end.line, body.name),
        }
    }

    /// A step of a procedure as it is written.
    pub fn step_text(&self, procedure: ProcedureIndex, kind: &StepKind) -> String {
        let lock = |lock: usize| &self.locks[lock].name;
        let variable = |variable: usize| &self.variables[variable].name;
        let labels = &self.procedures[procedure].labels;
        let label = |at: usize| labels.iter().find(|(_, position)| **position == at).map_or("?", |(label, _)| label.as_str());
        match kind {
            StepKind::Acquire { lock: taken, mode } => format!("acquire {}{}", lock(*taken), suffix(*mode)),
            StepKind::Try { lock: taken, mode, then, otherwise } => {
                let then = then.map_or(String::new(), |at| format!(" then {}", label(at)));
                let otherwise = otherwise.map_or(String::new(), |at| format!(" else {}", label(at)));
                format!("try {}{}{then}{otherwise}", lock(*taken), suffix(*mode))
            }
            StepKind::Release { lock: given } => format!("release {}", lock(*given)),
            StepKind::Call { procedure } => format!("call {}", self.procedures[*procedure].name),
            StepKind::Read { variable: read } => format!("read {}", variable(*read)),
            StepKind::Write { variable: written } => format!("write {}", variable(*written)),
            StepKind::Goto { targets } => match targets.as_slice() {
                [target] => format!("goto {}", label(*target)),
                targets => format!("goto [{}]", targets.iter().map(|target| label(*target)).collect::<Vec<_>>().join(", ")),
            },
            StepKind::Begin { unit } => format!("begin {}", self.units[*unit]),
            StepKind::End { unit } => format!("end {}", self.units[*unit]),
            StepKind::Spawn { thread } => format!("spawn {}", self.threads[*thread].name),
            StepKind::Join { thread } => format!("join {}", self.threads[*thread].name),
            StepKind::Assume { condition: Condition { left, comparison, right } } => {
                format!("assume {} {} {}", self.term(*left), comparison.symbol(), self.term(*right))
            }
            StepKind::Assign { variable: written, expression: Expression { left, right, is_difference } } => {
                let sign = if *is_difference { "-" } else { "+" };
                format!("assign {} = {} {sign} {}", variable(*written), self.term(*left), self.term(*right))
            }
            StepKind::Skip => "skip".to_owned(),
            StepKind::Return => "return".to_owned(),
        }
    }

    fn term(&self, term: Term) -> String {
        match term {
            Term::Number(number) => number.to_string(),
            Term::Variable(variable) => self.variables[variable].name.clone(),
        }
    }
}
