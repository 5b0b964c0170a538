//! One marker in a comment: `NOLINT`, `NOLINTNEXTLINE`, `NOLINTBEGIN`, `NOLINTEND`, as clang-tidy reads them.

/// What a marker speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    ThisLine,
    NextLine,
    Begin,
    End,
}

impl Scope {
    pub fn word(self) -> &'static str {
        match self {
            Self::ThisLine => "NOLINT",
            Self::NextLine => "NOLINTNEXTLINE",
            Self::Begin => "NOLINTBEGIN",
            Self::End => "NOLINTEND",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Directive {
    pub scope: Scope,
    pub names: Names,
    /// What stands after a colon.
    pub reason: Option<String>,
    /// Bytes before it in the comment.
    pub offset: usize,
}

/// Which checks a marker speaks of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Names {
    /// No list: all of them, of every tool.
    All,
    /// Patterns, with `*` for any run of characters.
    Listed(Vec<String>),
    /// A list that is not closed.
    Unclosed,
}

const MARKER: &str = "NOLINT";

/// All markers of one line of a comment.
pub fn directives(comment: &str) -> Vec<Directive> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = comment[from..].find(MARKER).map(|at| from + at) {
        let rest = &comment[at + MARKER.len()..];
        from = at + MARKER.len();
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        if comment[..at].chars().next_back().is_some_and(is_word) {
            continue;
        }
        let suffixes = [("NEXTLINE", Scope::NextLine), ("BEGIN", Scope::Begin), ("END", Scope::End)];
        let (scope, rest) = suffixes
            .into_iter()
            .find_map(|(suffix, scope)| rest.strip_prefix(suffix).map(|rest| (scope, rest)))
            .unwrap_or((Scope::ThisLine, rest));
        if rest.chars().next().is_some_and(is_word) {
            continue;
        }
        let (names, rest) = names(rest);
        found.push(Directive { scope, names, reason: reason(rest), offset: at });
        from = comment.len() - rest.len();
    }
    found
}

fn names(rest: &str) -> (Names, &str) {
    let Some(list) = rest.strip_prefix('(') else { return (Names::All, rest) };
    let Some((list, rest)) = list.split_once(')') else { return (Names::Unclosed, rest) };
    let listed = list.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect();
    (Names::Listed(listed), rest)
}

fn reason(rest: &str) -> Option<String> {
    let reason = rest.trim_start().strip_prefix(':')?;
    let reason = reason.find(MARKER).map_or(reason, |end| &reason[..end]).trim();
    (!reason.is_empty()).then(|| reason.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(names: &[&str]) -> Names {
        Names::Listed(names.iter().map(|name| (*name).to_owned()).collect())
    }

    fn parts(comment: &str) -> Vec<(Scope, Names, Option<String>)> {
        directives(comment).into_iter().map(|directive| (directive.scope, directive.names, directive.reason)).collect()
    }

    #[test]
    fn each_form_is_read() {
        assert_eq!(parts(" NOLINT"), [(Scope::ThisLine, Names::All, None)]);
        assert_eq!(parts("NOLINT: only a counter "), [(Scope::ThisLine, Names::All, Some("only a counter".to_owned()))]);
        let races = listed(&["lockcheck-data-race"]);
        assert_eq!(
            parts("NOLINT(lockcheck-data-race): off by a few"),
            [(Scope::ThisLine, races.clone(), Some("off by a few".to_owned()))]
        );
        assert_eq!(parts("NOLINTNEXTLINE(lockcheck-data-race)"), [(Scope::NextLine, races.clone(), None)]);
        assert_eq!(parts("NOLINTBEGIN(lockcheck-data-race) because"), [(Scope::Begin, races.clone(), None)]);
        assert_eq!(parts("NOLINTEND(lockcheck-data-race)"), [(Scope::End, races, None)]);
        let two = listed(&["lockcheck-deadlock", "bugprone-x"]);
        assert_eq!(parts("see NOLINT( lockcheck-deadlock ,bugprone-x,)"), [(Scope::ThisLine, two, None)]);
    }

    #[test]
    fn two_markers_in_a_comment_are_two() {
        let both = parts("NOLINT(a): one NOLINTNEXTLINE(b): two");
        assert_eq!(both[0], (Scope::ThisLine, listed(&["a"]), Some("one".to_owned())));
        assert_eq!(both[1], (Scope::NextLine, listed(&["b"]), Some("two".to_owned())));
    }

    #[test]
    fn other_words_are_none() {
        assert_eq!(parts("NOLINTS XNOLINT NOLINTBEGINNING nolint"), []);
        assert_eq!(parts("NOLINT(lockcheck-data-race"), [(Scope::ThisLine, Names::Unclosed, None)]);
        assert_eq!(parts("NOLINT()"), [(Scope::ThisLine, listed(&[]), None)]);
    }
}
