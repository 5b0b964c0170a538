//! YAML as a tree whose leaves know their line: the parser keeps no positions, so they are found again in the text.
//!
//! Scalars and keys are met in the order they are written in; each is the next occurrence of its text, comments aside. A scalar that
//! is written in another way than it reads (escapes, several lines) gets the position of the one before it.

use serde_json::Value;

use super::{ModelError, Position};
use crate::models::yaml;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    pub position: Position,
    pub kind: Kind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    Null,
    /// As it is written: numbers and truth values too.
    Scalar(String),
    List(Vec<Node>),
    /// In the order of the text.
    Map(Vec<(Node, Node)>),
}

impl Node {
    pub fn parse(text: &str) -> Result<Node, ModelError> {
        let value = yaml::parse_strictly(text).map_err(|(line, reason)| ModelError { line: line.unwrap_or(1), reason })?;
        let text = without_comments(text);
        Ok(Finder { text: &text, at: 0, position: Position { line: 1, column: 1 } }.node(&value))
    }

    pub fn error<T>(&self, reason: impl Into<String>) -> Result<T, ModelError> {
        Err(ModelError { line: self.position.line, reason: reason.into() })
    }

    /// A short form for messages.
    pub fn shown(&self) -> String {
        match &self.kind {
            Kind::Null => "nothing".to_owned(),
            Kind::Scalar(text) => format!("`{text}`"),
            Kind::List(_) => "a list".to_owned(),
            Kind::Map(_) => "a map".to_owned(),
        }
    }

    pub fn scalar(&self, what: &str) -> Result<&str, ModelError> {
        match &self.kind {
            Kind::Scalar(text) => Ok(text),
            _ => self.error(format!("{} stands where {what} is expected", self.shown())),
        }
    }

    pub fn list(&self, what: &str) -> Result<&[Node], ModelError> {
        match &self.kind {
            Kind::List(items) => Ok(items),
            Kind::Null => Ok(&[]),
            _ => self.error(format!("{} stands where {what} is expected", self.shown())),
        }
    }

    pub fn map(&self, what: &str) -> Result<&[(Node, Node)], ModelError> {
        match &self.kind {
            Kind::Map(entries) => Ok(entries),
            Kind::Null => Ok(&[]),
            _ => self.error(format!("{} stands where {what} is expected", self.shown())),
        }
    }

    /// A map whose keys are all known.
    pub fn map_of(&self, what: &str, known: &[&str]) -> Result<&[(Node, Node)], ModelError> {
        let entries = self.map(what)?;
        for (key, _) in entries {
            let name = key.scalar("a key")?;
            if !known.contains(&name) {
                return key.error(format!("unknown key `{name}` in {what}; known: {}", known.join(", ")));
            }
        }
        Ok(entries)
    }

    /// The value of a key of a map.
    pub fn get(&self, key: &str) -> Option<&Node> {
        let Kind::Map(entries) = &self.kind else { return None };
        entries.iter().find(|(name, _)| name.kind == Kind::Scalar(key.to_owned())).map(|(_, value)| value)
    }
}

struct Finder<'t> {
    text: &'t str,
    at: usize,
    position: Position,
}

impl Finder<'_> {
    fn node(&mut self, value: &Value) -> Node {
        match value {
            Value::Null => Node { position: self.position, kind: Kind::Null },
            Value::Array(items) => {
                let items: Vec<Node> = items.iter().map(|item| self.node(item)).collect();
                Node { position: items.first().map_or(self.position, |item| item.position), kind: Kind::List(items) }
            }
            Value::Object(entries) => {
                let entries: Vec<(Node, Node)> =
                    entries.iter().map(|(key, value)| (self.leaf(key.clone()), self.node(value))).collect();
                Node { position: entries.first().map_or(self.position, |(key, _)| key.position), kind: Kind::Map(entries) }
            }
            Value::String(text) => self.leaf(text.clone()),
            Value::Bool(_) | Value::Number(_) => self.leaf(value.to_string()),
        }
    }

    fn leaf(&mut self, text: String) -> Node {
        let is_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
        let mut from = self.at;
        while let Some(found) = self.text[from..].find(text.as_str()).filter(|_| !text.is_empty()) {
            let (start, end) = (from + found, from + found + text.len());
            let begins = !is_word(text.chars().next()) || !is_word(self.text[..start].chars().next_back());
            let ends = !is_word(text.chars().next_back()) || !is_word(self.text[end..].chars().next());
            if begins && ends {
                self.at = end;
                let before = &self.text[..start];
                let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
                self.position =
                    Position { line: before.matches('\n').count() + 1, column: before[line_start..].chars().count() + 1 };
                break;
            }
            from = start + text.chars().next().map_or(1, char::len_utf8);
        }
        Node { position: self.position, kind: Kind::Scalar(text) }
    }
}

/// The same text with blanks for comments, so that no word of them is taken for a step.
fn without_comments(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let mut quote = None;
        let mut before = ' ';
        let mut comment = line.len();
        for (at, c) in line.char_indices() {
            match (quote, c) {
                (Some(open), _) if c == open => quote = None,
                (Some(_), _) => {}
                (None, '"' | '\'') if before.is_whitespace() || "[{,:-".contains(before) => quote = Some(c),
                (None, '#') if before.is_whitespace() => {
                    comment = at;
                    break;
                }
                (None, _) => {}
            }
            before = c;
        }
        result.push_str(&line[..comment]);
        if comment < line.len() && line.ends_with('\n') {
            result.push('\n');
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_leaf_knows_its_line() {
        let node = Node::parse("# acquire a\nt:\n  - acquire a # release a\n  - 'release a'\n  - acquire a\nu: [acquire a, x]\n")
            .unwrap();
        let Kind::Map(entries) = &node.kind else { panic!("a map") };
        let lines = |node: &Node| {
            node.list("steps").unwrap().iter().map(|item| (item.position.line, item.position.column)).collect::<Vec<_>>()
        };
        assert_eq!(lines(&entries[0].1), [(3, 5), (4, 6), (5, 5)]);
        assert_eq!(lines(&entries[1].1), [(6, 5), (6, 16)]);
    }

    #[test]
    fn a_word_inside_another_is_not_it() {
        let node = Node::parse("ab: 1\nb: 2\n").unwrap();
        let Kind::Map(entries) = &node.kind else { panic!("a map") };
        assert_eq!(entries[1].0.position, Position { line: 2, column: 1 });
    }

    #[test]
    fn bad_yaml_has_a_line_and_a_key_counts_once() {
        assert_eq!(Node::parse("a: 1\nb: [\n").unwrap_err().line, 3);
        let error = Node::parse("threads: {a: [], b: [], a: []}\n").unwrap_err();
        assert!(error.reason.contains("duplicate"), "{error}");
    }
}
