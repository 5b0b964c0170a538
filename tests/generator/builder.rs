//! Assembles one C program out of sections, and the templates that sections are written in.
//!
//! A section is a group of file-scope declarations that ends in `static uint64_t NAME(void)`; `main` calls the
//! sections in order and prints what each returns. Everything printed also enters one checksum, whose low byte is
//! the exit code.
//!
//! Templates are C text with holes: `@key` (letters, then digits) is replaced by the value of `key`. Three keys are
//! always there: `@self` (the section's unique name), `@static` and `@inner` (a random choice of `static`,
//! `static inline` and a `static` that is never inlined; each hole chooses anew).

use super::random::Random;
use std::collections::BTreeSet;
use std::fmt::Write;

pub struct Builder {
    pub random: Random,
    features: BTreeSet<&'static str>,
    items: Vec<String>,
    sections: Vec<String>,
}

const PRELUDE: &str = r#"#include <alloca.h>
#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static @storage input = UINT64_C(@input);
static uint64_t checksum = UINT64_C(0xcbf29ce484222325);

@inner uint64_t take(void) {
    uint64_t next = input * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    input = next;
    return next ^ (next >> 31);
}
@inner void mix(uint64_t value) {
    checksum = (checksum ^ value) * UINT64_C(0x100000001b3);
    checksum ^= checksum >> 29;
}
@inner void show(const char *label, uint64_t value) {
    mix(value);
    printf("%s %llx\n", label, (unsigned long long)value);
}
"#;

/// Only the sections that use them define these, so that a program stays short.
const SHOW_DOUBLE: &str = r#"
static void show_double(const char *label, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    mix(bits);
    printf("%s %llx %.6g\n", label, (unsigned long long)bits, value);
}
"#;

impl Builder {
    pub fn new(seed: u64) -> Self {
        Self { random: Random::new(seed), features: BTreeSet::new(), items: Vec::new(), sections: Vec::new() }
    }

    pub fn cover(&mut self, feature: &'static str) {
        self.features.insert(feature);
    }

    /// A literal of a random number in `low..=high`; the range must be one of `int`.
    pub fn number(&mut self, low: i32, high: i32) -> String {
        self.random.between(low.into(), high.into()).to_string()
    }

    pub fn choose(&mut self, choices: &[&str]) -> String {
        (*self.random.pick(choices)).to_string()
    }

    /// Adds a section. The template defines `static uint64_t @self(void)`.
    pub fn section(&mut self, stem: &str, template: &str, values: &[(&str, String)]) {
        let name = format!("{stem}_{}", self.sections.len());
        let text = self.fill(template, &name, values);
        self.items.push(text.trim_matches('\n').to_string());
        self.sections.push(name);
    }

    /// The lines of the sections so far.
    pub fn lines(&self) -> usize {
        self.items.iter().map(|item| item.lines().count()).sum()
    }

    fn fill(&mut self, template: &str, name: &str, values: &[(&str, String)]) -> String {
        let mut filled = String::new();
        let mut rest = template;
        while let Some(at) = rest.find('@') {
            filled.push_str(&rest[..at]);
            rest = &rest[at + 1..];
            let letters = rest.find(|c: char| !c.is_ascii_lowercase()).unwrap_or(rest.len());
            let digits = rest[letters..].find(|c: char| !c.is_ascii_digit());
            let length = digits.map_or(rest.len(), |digits| letters + digits);
            let key = &rest[..length];
            rest = &rest[length..];
            match key {
                "self" => filled.push_str(name),
                "static" | "inner" => filled.push_str(self.linkage()),
                _ => {
                    let value = values.iter().find(|(candidate, _)| *candidate == key);
                    let (_, value) = value.unwrap_or_else(|| panic!("{name}: no value for @{key}"));
                    // Values may hold `@self` themselves.
                    filled.push_str(&value.replace("@self", name));
                }
            }
        }
        filled.push_str(rest);
        filled
    }

    fn linkage(&mut self) -> &'static str {
        const CHOICES: [&str; 4] = ["static", "static", "static inline", "static __attribute__((noinline))"];
        self.random.pick::<&'static str>(&CHOICES)
    }

    pub fn finish(mut self) -> (String, BTreeSet<&'static str>) {
        // Without `volatile` the optimiser knows every input and folds whole sections.
        let opaque = self.random.chance(70);
        let storage = if opaque { "volatile uint64_t" } else { "uint64_t" };
        self.cover(if opaque { "opaque-inputs" } else { "foldable-inputs" });
        let input = self.random.next();
        let values = [("storage", storage.to_string()), ("input", format!("{input:#x}"))];
        let mut source = self.fill(PRELUDE, "prelude", &values);
        if self.items.iter().any(|item| item.contains("show_double(")) {
            source.push_str(SHOW_DOUBLE);
        }
        for item in &self.items {
            write!(source, "\n{item}\n").expect("writing to a string");
        }
        source.push_str("\nint main(void) {\n");
        for name in &self.sections {
            writeln!(source, "    show(\"{name}\", {name}());").expect("writing to a string");
        }
        source.push_str("    printf(\"checksum %llu\\n\", (unsigned long long)checksum);\n");
        if self.random.chance(25) {
            self.cover("exit-call");
            source.push_str("    exit((int)(checksum & 255));\n}\n");
        } else {
            source.push_str("    return (int)(checksum & 255);\n}\n");
        }
        (source, self.features)
    }
}
