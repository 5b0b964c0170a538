//! Stable identities: a finding keeps its id when lines move.

use super::Rule;

/// The id of a finding: its rule, and a hash of the names that make it what it is.
///
/// `names` are source functions, debug-info names and an ordinal among findings that agree in all of these. A line in a name (`memory
/// allocated at a.c:22`) does not count.
pub fn stable_id(rule: Rule, names: &[&str], ordinal: usize) -> String {
    let mut hash = Fnv::default();
    hash.add(rule.name().as_bytes());
    for name in names {
        hash.add(&[0]);
        hash.add(without_lines(name).as_bytes());
    }
    hash.add(&(ordinal as u64).to_le_bytes());
    format!("{}-{:016x}", rule.name(), hash.0)
}

/// `at a.c` for `at a.c:22`.
fn without_lines(name: &str) -> String {
    let mut parts = name.split(':');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.trim_start_matches(|c: char| c.is_ascii_digit()) {
            rest if rest.len() < part.len() => text.push_str(rest),
            _ => {
                text.push(':');
                text.push_str(part);
            }
        }
    }
    text
}

/// FNV-1a, 64 bits: the same on every machine and in every version.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Fnv(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_do_not_run_into_each_other() {
        assert_ne!(stable_id(Rule::DataRace, &["ab", "c"], 0), stable_id(Rule::DataRace, &["a", "bc"], 0));
        assert_ne!(stable_id(Rule::DataRace, &["a"], 0), stable_id(Rule::DataRace, &["a"], 1));
        assert_eq!(stable_id(Rule::DataRace, &["a"], 0), stable_id(Rule::DataRace, &["a"], 0));
    }

    #[test]
    fn lines_do_not_count() {
        assert_eq!(without_lines("memory allocated at a.c:22"), "memory allocated at a.c");
        assert_eq!(without_lines("child@a.c:21, lock"), "child@a.c, lock");
        assert_eq!(without_lines("a::b:3#2"), "a::b#2");
        assert_eq!(without_lines("total"), "total");
    }
}
