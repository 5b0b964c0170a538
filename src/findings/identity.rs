//! Stable identities: a finding keeps its id when lines move.

use super::Rule;

/// The id of a finding: its rule, and a hash of the names that make it what it is.
///
/// `names` are source functions, debug-info names and an ordinal among findings that agree in all of these.
pub fn stable_id(rule: Rule, names: &[&str], ordinal: usize) -> String {
    let mut hash = Fnv::default();
    hash.add(rule.name().as_bytes());
    for name in names {
        hash.add(&[0]);
        hash.add(name.as_bytes());
    }
    hash.add(&(ordinal as u64).to_le_bytes());
    format!("{}-{:016x}", rule.name(), hash.0)
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
}
