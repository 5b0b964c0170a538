//! Collects the pieces of one program and puts them together.

use std::collections::BTreeSet;

use super::Generated;
use super::random::Random;

pub struct Writer {
    pub random: Random,
    features: BTreeSet<&'static str>,
    /// No discipline may be broken.
    pub is_careful: bool,
    headers: BTreeSet<&'static str>,
    globals: Vec<String>,
    functions: Vec<String>,
    /// What `main` does before it creates threads.
    pub beginning: Vec<String>,
    main: Vec<String>,
    names: u32,
}

impl Writer {
    pub fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let is_careful = random.chance(38);
        Self {
            random,
            features: BTreeSet::new(),
            is_careful,
            headers: BTreeSet::from(["#include <pthread.h>"]),
            globals: Vec::new(),
            functions: Vec::new(),
            beginning: Vec::new(),
            main: Vec::new(),
            names: 0,
        }
    }

    pub fn cover(&mut self, feature: &'static str) {
        self.features.insert(feature);
    }

    pub fn chance(&mut self, percent: u64) -> bool {
        self.random.chance(percent)
    }

    pub fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        *self.random.pick(choices)
    }

    /// Whether to break a discipline here; a broken one is a feature of its own.
    pub fn breaks(&mut self, percent: u64, feature: &'static str) -> bool {
        let breaks = !self.is_careful && self.random.chance(percent);
        if breaks {
            self.cover(feature);
        }
        breaks
    }

    pub fn header(&mut self, header: &'static str) {
        self.headers.insert(header);
    }

    pub fn global(&mut self, text: &str) {
        if !self.globals.iter().any(|known| known == text) {
            self.globals.push(text.to_owned());
        }
    }

    pub fn function(&mut self, text: String) {
        if !self.functions.contains(&text) {
            self.functions.push(text);
        }
    }

    pub fn main(&mut self, line: &str) {
        self.main.push(line.to_owned());
    }

    /// A name that the program does not have yet.
    pub fn name(&mut self, stem: &str) -> String {
        self.names += 1;
        format!("{stem}{}", self.names)
    }

    pub fn finish(self) -> Generated {
        let mut lines = vec!["#define _GNU_SOURCE".to_owned()];
        lines.extend(self.headers.iter().map(|header| (*header).to_owned()));
        lines.extend(self.globals);
        lines.extend(self.functions);
        lines.push("int main(void) {".to_owned());
        lines.extend(self.beginning.into_iter().chain(self.main).map(|line| format!("    {line}")));
        lines.push("}\n".to_owned());
        Generated { source: lines.join("\n"), features: self.features, is_careful: self.is_careful }
    }
}
