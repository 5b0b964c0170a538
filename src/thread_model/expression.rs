//! Conditions and expressions of `assume` and `assign`: one comparison, one sum.

use super::VariableIndex;

/// A number or the value of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Term {
    Number(u8),
    Variable(VariableIndex),
}

/// `left + right` or `left - right`, modulo 256.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Expression {
    pub left: Term,
    pub right: Term,
    pub is_difference: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Condition {
    pub left: Term,
    pub comparison: Comparison,
    pub right: Term,
}

impl Term {
    /// The variables among two terms, in the order they are loaded.
    pub fn variables(left: Term, right: Term) -> impl Iterator<Item = VariableIndex> {
        [left, right].into_iter().filter_map(|term| match term {
            Term::Variable(variable) => Some(variable),
            Term::Number(_) => None,
        })
    }
}

impl Expression {
    pub fn value(&self, left: u8, right: u8) -> u8 {
        if self.is_difference { left.wrapping_sub(right) } else { left.wrapping_add(right) }
    }
}

impl Comparison {
    /// Longer symbols first, so that `<=` is not read as `<`.
    pub const SYMBOLS: [(&'static str, Comparison); 6] = [
        ("==", Comparison::Equal),
        ("!=", Comparison::NotEqual),
        ("<=", Comparison::LessEqual),
        (">=", Comparison::GreaterEqual),
        ("<", Comparison::Less),
        (">", Comparison::Greater),
    ];

    pub fn holds(self, left: u8, right: u8) -> bool {
        match self {
            Comparison::Equal => left == right,
            Comparison::NotEqual => left != right,
            Comparison::Less => left < right,
            Comparison::LessEqual => left <= right,
            Comparison::Greater => left > right,
            Comparison::GreaterEqual => left >= right,
        }
    }

    pub fn symbol(self) -> &'static str {
        Self::SYMBOLS.iter().find(|(_, comparison)| *comparison == self).expect("every comparison has a symbol").0
    }
}

/// `x`, `3`, `x + 1`, `x - y`; names are resolved by `variable`.
pub fn expression(text: &str, variable: &mut dyn FnMut(&str) -> Result<VariableIndex, String>) -> Result<Expression, String> {
    let (left, right, is_difference) = match text.find(['+', '-']) {
        Some(at) => (&text[..at], &text[at + 1..], text[at..].starts_with('-')),
        None => (text, "0", false),
    };
    Ok(Expression { left: term(left, variable)?, right: term(right, variable)?, is_difference })
}

/// `x == 1`, `x`, `!x`, `true`, `false`.
pub fn condition(text: &str, variable: &mut dyn FnMut(&str) -> Result<VariableIndex, String>) -> Result<Condition, String> {
    let text = text.trim();
    let zero = Term::Number(0);
    if text == "true" || text == "false" {
        return Ok(Condition {
            left: zero,
            comparison: if text == "true" { Comparison::Equal } else { Comparison::NotEqual },
            right: zero,
        });
    }
    let symbol = Comparison::SYMBOLS
        .iter()
        .filter_map(|(symbol, comparison)| Some((text.find(symbol)?, symbol, comparison)))
        .min_by_key(|(at, ..)| *at);
    let (left, comparison, right) = match symbol {
        Some((at, symbol, comparison)) => (&text[..at], *comparison, term(&text[at + symbol.len()..], variable)?),
        None => match text.strip_prefix('!') {
            Some(rest) => (rest, Comparison::Equal, zero),
            None => (text, Comparison::NotEqual, zero),
        },
    };
    Ok(Condition { left: term(left, variable)?, comparison, right })
}

fn term(text: &str, variable: &mut dyn FnMut(&str) -> Result<VariableIndex, String>) -> Result<Term, String> {
    let text = text.trim();
    if text.starts_with(|c: char| c.is_ascii_digit()) {
        return text.parse().map(Term::Number).map_err(|_| format!("`{text}` is no number from 0 to 255"));
    }
    variable(text).map(Term::Variable)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(name: &str) -> Result<VariableIndex, String> {
        ["x", "y"].iter().position(|known| *known == name).ok_or_else(|| format!("`{name}`?"))
    }

    #[test]
    fn sums_and_comparisons_are_read() {
        let sum = expression("x - 1", &mut resolve).unwrap();
        assert_eq!(sum, Expression { left: Term::Variable(0), right: Term::Number(1), is_difference: true });
        assert_eq!(sum.value(0, 1), 255);
        let comparison = condition("x <= y", &mut resolve).unwrap();
        assert_eq!(
            comparison,
            Condition { left: Term::Variable(0), comparison: Comparison::LessEqual, right: Term::Variable(1) }
        );
        assert!(condition("!y", &mut resolve).unwrap().comparison.holds(0, 0));
        assert!(condition("x != 2", &mut resolve).unwrap().comparison.holds(1, 2));
        assert!(condition("x == 256", &mut resolve).is_err());
        assert!(condition("z", &mut resolve).is_err());
        assert!(expression("x + z", &mut resolve).is_err());
    }
}
