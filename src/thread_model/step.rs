//! Steps: what one line of a procedure says.

use super::{Condition, Expression, LockIndex, Position, ProcedureIndex, ThreadIndex, VariableIndex};
pub use crate::models::LockMode;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    pub position: Position,
    pub kind: StepKind,
}

/// Targets are positions in the steps of the same procedure; their number stands for its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StepKind {
    Acquire {
        lock: LockIndex,
        mode: LockMode,
    },
    /// Goes on at `then` with the lock, at `otherwise` without it; `None` is the next step.
    Try {
        lock: LockIndex,
        mode: LockMode,
        then: Option<usize>,
        otherwise: Option<usize>,
    },
    Release {
        lock: LockIndex,
    },
    Call {
        procedure: ProcedureIndex,
    },
    Read {
        variable: VariableIndex,
    },
    Write {
        variable: VariableIndex,
    },
    /// To any of them.
    Goto {
        targets: Vec<usize>,
    },
    Begin {
        unit: usize,
    },
    End {
        unit: usize,
    },
    Spawn {
        thread: ThreadIndex,
    },
    Join {
        thread: ThreadIndex,
    },
    Assume {
        condition: Condition,
    },
    Assign {
        variable: VariableIndex,
        expression: Expression,
    },
    Skip,
    Return,
}

/// A step as it is written: words, names not yet resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Written<'t> {
    Label(&'t str),
    Acquire { lock: &'t str, mode: LockMode },
    Try { lock: &'t str, mode: LockMode, then: Option<&'t str>, otherwise: Option<&'t str> },
    Release(&'t str),
    Call(&'t str),
    Read(&'t str),
    Write(&'t str),
    Goto(Vec<&'t str>),
    Begin(&'t str),
    End(&'t str),
    Spawn(&'t str),
    Join(&'t str),
    Assume(&'t str),
    Assign { variable: &'t str, expression: &'t str },
    Skip,
    Return,
}

/// The words a step may begin with.
pub const WORDS: [&str; 16] = [
    "acquire", "try", "release", "call", "read", "write", "label", "goto", "begin", "end", "spawn", "join", "assume", "assign",
    "skip", "return",
];

pub fn parse(text: &str) -> Result<Written<'_>, String> {
    let text = text.trim();
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let rest = rest.trim();
    let one = |what: &str| name(rest, word, what);
    match word {
        "label" => one("a label").map(Written::Label),
        "acquire" => lock(rest, word).map(|(lock, mode)| Written::Acquire { lock, mode }),
        "try" => attempt(rest),
        "release" => one("a lock").map(Written::Release),
        "call" => one("a procedure").map(Written::Call),
        "read" => one("a variable").map(Written::Read),
        "write" => one("a variable").map(Written::Write),
        "goto" => targets(rest).map(Written::Goto),
        "begin" => one("a unit").map(Written::Begin),
        "end" => one("a unit").map(Written::End),
        "spawn" => one("a thread").map(Written::Spawn),
        "join" => one("a thread").map(Written::Join),
        "assume" if rest.is_empty() => Err("`assume` needs a condition: write `assume x == 1`".to_owned()),
        "assume" => Ok(Written::Assume(rest)),
        "assign" => match rest.split_once('=') {
            Some((variable, expression)) if !expression.trim().is_empty() => {
                Ok(Written::Assign { variable: name(variable.trim(), word, "a variable")?, expression: expression.trim() })
            }
            _ => Err("`assign` needs a variable and a value: write `assign x = y + 1`".to_owned()),
        },
        "skip" | "return" if !rest.is_empty() => Err(format!("`{word}` takes nothing, found `{rest}`")),
        "skip" => Ok(Written::Skip),
        "return" => Ok(Written::Return),
        _ => Err(format!("`{text}` is no step: a step begins with {}", WORDS.join(", "))),
    }
}

/// Whether a word can name something.
pub fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || c == '_')
}

fn name<'t>(text: &'t str, word: &str, what: &str) -> Result<&'t str, String> {
    if is_name(text) { Ok(text) } else { Err(format!("`{word}` needs the name of {what}, found `{text}`")) }
}

fn lock<'t>(text: &'t str, word: &str) -> Result<(&'t str, LockMode), String> {
    match text.split_once(char::is_whitespace) {
        Some((lock, mode)) if mode.trim() == "shared" => Ok((name(lock, word, "a lock")?, LockMode::Shared)),
        Some((_, mode)) => Err(format!("`{word}` takes a lock and perhaps `shared`, found `{}`", mode.trim())),
        None => Ok((name(text, word, "a lock")?, LockMode::Exclusive)),
    }
}

fn attempt(text: &str) -> Result<Written<'_>, String> {
    let wrong = || format!("`try {text}`: write `try L then N else M`, `try L else M` or `try L shared then N`");
    let words: Vec<&str> = text.split_whitespace().collect();
    let (lock, mut rest) = words.split_first().ok_or_else(wrong)?;
    let mut mode = LockMode::Exclusive;
    if let Some((&"shared", after)) = rest.split_first() {
        (mode, rest) = (LockMode::Shared, after);
    }
    let (mut then, mut otherwise) = (None, None);
    while let [word, target, after @ ..] = rest {
        let place = match *word {
            "then" if then.is_none() => &mut then,
            "else" if otherwise.is_none() => &mut otherwise,
            _ => return Err(wrong()),
        };
        *place = Some(name(target, "try", "a label")?);
        rest = after;
    }
    if !rest.is_empty() || then.is_none() && otherwise.is_none() {
        return Err(wrong());
    }
    Ok(Written::Try { lock: name(lock, "try", "a lock")?, mode, then, otherwise })
}

fn targets(text: &str) -> Result<Vec<&str>, String> {
    let inner = text.strip_prefix('[').map_or(Some(text), |rest| rest.strip_suffix(']'));
    let inner = inner.ok_or_else(|| format!("`goto {text}`: a bracket is missing"))?;
    inner.split(',').map(|target| name(target.trim(), "goto", "a label")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_read_word_by_word() {
        assert_eq!(parse("acquire m shared").unwrap(), Written::Acquire { lock: "m", mode: LockMode::Shared });
        assert_eq!(parse("goto [a, b]").unwrap(), Written::Goto(vec!["a", "b"]));
        assert_eq!(parse("goto a").unwrap(), Written::Goto(vec!["a"]));
        let attempt = Written::Try { lock: "m", mode: LockMode::Exclusive, then: Some("n"), otherwise: Some("o") };
        assert_eq!(parse("try m then n else o").unwrap(), attempt);
        assert_eq!(parse("assign x = x + 1").unwrap(), Written::Assign { variable: "x", expression: "x + 1" });
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, said) in [
            ("aquire m", "aquire m"),
            ("acquire", "a lock"),
            ("acquire m exclusive", "shared"),
            ("try m", "else"),
            ("try m then", "then N"),
            ("goto [a, b", "bracket"),
            ("goto []", "label"),
            ("return x", "nothing"),
            ("assign x", "x = y"),
            ("assume", "condition"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(said), "{text}: {error}");
        }
    }
}
