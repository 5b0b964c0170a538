//! Threads in words, and as a picture: `lockcheck emit threads`.

use std::fmt::Write;

use super::Threads;
use super::types::{PhaseId, ThreadId, ThreadKind};
use crate::program::{Program, SiteId};

impl Threads {
    /// `main`, or `visitor@a.c:30`, as a run names it; with a number where several creation paths end in one line.
    pub fn name(&self, program: &Program, thread: ThreadId) -> String {
        let name = self.plain_name(program, thread);
        let namesakes: Vec<ThreadId> =
            self.threads().map(|(id, _)| id).filter(|id| self.plain_name(program, *id) == name).collect();
        match namesakes.iter().position(|id| *id == thread) {
            Some(position) if namesakes.len() > 1 => format!("{name}#{}", position + 1),
            _ => name,
        }
    }

    fn plain_name(&self, program: &Program, thread: ThreadId) -> String {
        let thread = self.thread(thread);
        let entry = thread.entry.map_or("anywhere", |entry| program.functions[entry].source_name.as_str());
        match thread.site().and_then(|site| program.place_of(site)) {
            Some(place) => format!("{entry}@{}:{}", place.file.rsplit('/').next().unwrap_or(&place.file), place.line),
            None => entry.to_owned(),
        }
    }

    /// The threads that may run at the same time as some instance of this one.
    pub fn beside(&self, thread: ThreadId) -> impl Iterator<Item = ThreadId> + '_ {
        let may_overlap = move |other: &ThreadId| self.relation((thread, PhaseId::ANY), (*other, PhaseId::ANY)).may_overlap();
        self.threads().map(|(id, _)| id).filter(may_overlap)
    }

    /// One block a thread.
    pub fn print(&self, program: &Program) -> String {
        let mut text = String::new();
        for (id, thread) in self.threads() {
            writeln!(text, "{}", self.name(program, id)).expect("a string can be written to");
            let names = |threads: &mut dyn Iterator<Item = ThreadId>| {
                threads.map(|one| self.name(program, one)).collect::<Vec<_>>().join(", ")
            };
            let mut line = |key: &str, value: &str| writeln!(text, "    {key:<10} {value}").expect("a string can be written to");
            let created = match (thread.kind, thread.parent) {
                (ThreadKind::Main, _) => "the program's first thread".to_owned(),
                (ThreadKind::Library, _) => "called from outside, at any time".to_owned(),
                (ThreadKind::Handler, _) => "a signal handler, in every thread, at any time".to_owned(),
                (ThreadKind::Anywhere, _) => "in every thread, at any time".to_owned(),
                (ThreadKind::Created, None) => "somewhere".to_owned(),
                (ThreadKind::Created, Some(parent)) => {
                    let path: Vec<String> = thread.path.iter().map(|site| at(program, *site)).collect();
                    let by = if thread.is_cut { " and others" } else { "" };
                    format!("{} by {}{by}", path.join(" > "), self.name(program, parent))
                }
            };
            let functions = self
                .roots()
                .iter()
                .filter(|root| root.thread == id)
                .map(|root| program.functions[root.function].source_name.as_str());
            line("entry", &functions.collect::<Vec<_>>().join(", "));
            line("created", &created);
            line("instances", if thread.is_many { "any number" } else { "one" });
            if thread.kind == ThreadKind::Created {
                let sites: Vec<String> = self.joined_at(id).iter().map(|site| at(program, *site)).collect();
                line("joined", &if sites.is_empty() { "not for certain".to_owned() } else { sites.join(", ") });
            }
            if let Some(distance) = self.argument_distance(id) {
                line("arguments", &format!("{distance} apart"));
            }
            let beside = names(&mut self.beside(id));
            line("beside", if beside.is_empty() { "nothing" } else { &beside });
        }
        text
    }

    /// Who creates whom, and which of the created may run side by side.
    pub fn print_dot(&self, program: &Program) -> String {
        let mut text = "digraph threads {\n    node [shape=box];\n".to_owned();
        for (id, thread) in self.threads() {
            let style = if thread.is_many { ", peripheries=2" } else { "" };
            writeln!(text, "    t{} [label=\"{}\"{style}];", id.index(), self.name(program, id).replace('"', "'"))
                .expect("a string can be written to");
        }
        for (id, thread) in self.threads() {
            if let Some(parent) = thread.parent {
                let label = thread.site().map_or(String::new(), |site| at(program, site));
                writeln!(text, "    t{} -> t{} [label=\"{label}\"];", parent.index(), id.index())
                    .expect("a string can be written to");
            }
            let is_line = |one: ThreadId| self.thread(one).parent == Some(id) || thread.parent == Some(one);
            for other in self.beside(id).filter(|other| id <= *other && !is_line(*other)) {
                writeln!(text, "    t{} -> t{} [dir=none, style=dashed];", id.index(), other.index())
                    .expect("a string can be written to");
            }
        }
        text.push_str("}\n");
        text
    }
}

fn at(program: &Program, site: SiteId) -> String {
    match program.place_of(site) {
        Some(place) => format!("{}:{}", place.file, place.line),
        None => program.functions[program.sites[site].function].source_name.clone(),
    }
}
