//! Of which objects there is bitcode, and of which not: what a check of a built program rests on.

use std::fmt;
use std::path::PathBuf;

use crate::error::Error;
use crate::program::{Assumption, AssumptionKind};

/// How much of one input could be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coverage {
    pub file: PathBuf,
    /// Objects that carry bitcode.
    pub with_bitcode: usize,
    pub missing: Vec<Missing>,
    /// The symbol table is gone: there may be objects that nothing tells of.
    pub is_stripped: bool,
}

/// An object without bitcode.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Missing {
    pub name: String,
    /// Why, when that is known.
    pub reason: Option<String>,
}

impl Coverage {
    pub fn is_complete(&self) -> bool {
        self.missing.is_empty() && !self.is_stripped
    }

    /// What a verdict about this input takes for granted: that nothing of importance is in the rest.
    pub fn assumptions(&self) -> Vec<Assumption> {
        let assume = |what: String| Assumption { kind: AssumptionKind::MissingBitcode, what, place: None };
        let file = self.file.display();
        let missing = self.missing.iter().map(|missing| assume(format!("{file}: {missing}")));
        let stripped = self.is_stripped.then(|| assume(format!("{file}: its symbol table is gone, objects cannot be counted")));
        missing.chain(stripped).collect()
    }

    /// Under `--strict` nothing may be missing.
    pub fn insist(&self) -> Result<(), Error> {
        match self.is_complete() {
            true => Ok(()),
            false => Err(Error::MissingBitcode { summary: self.to_string() }),
        }
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.reason {
            Some(reason) => write!(f, "{} ({reason})", self.name),
            None => f.write_str(&self.name),
        }
    }
}

impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (file, with) = (self.file.display(), self.with_bitcode);
        if self.is_stripped {
            write!(f, "{file}: {with} objects have bitcode; its symbol table is gone, so others cannot be counted")?;
        } else {
            write!(f, "{file}: {with} of {} objects have bitcode", with + self.missing.len())?;
        }
        for (index, missing) in self.missing.iter().enumerate() {
            write!(f, "{}{missing}", if index == 0 { "; missing: " } else { ", " })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sentence_names_what_is_missing() {
        let missing = |name: &str, reason: Option<&str>| Missing { name: name.into(), reason: reason.map(str::to_owned) };
        let mut coverage = Coverage { file: "prog".into(), with_bitcode: 2, missing: Vec::new(), is_stripped: false };
        assert_eq!(coverage.to_string(), "prog: 2 of 2 objects have bitcode");
        assert!(coverage.is_complete() && coverage.assumptions().is_empty() && coverage.insist().is_ok());
        coverage.missing = vec![missing("a.cc", Some("C++ is not read")), missing("b.c", None)];
        assert_eq!(coverage.to_string(), "prog: 2 of 4 objects have bitcode; missing: a.cc (C++ is not read), b.c");
        assert_eq!(coverage.assumptions().len(), 2);
        assert!(coverage.insist().is_err());
    }
}
