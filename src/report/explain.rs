//! What each rule means, with a minimal bad and good example.

use crate::findings::Rule;

/// The page about a rule.
pub fn page(rule: Rule) -> &'static str {
    match rule {
        Rule::DataRace => include_str!("rules/data-race.md"),
        Rule::Deadlock => include_str!("rules/deadlock.md"),
        Rule::Atomicity => include_str!("rules/atomicity.md"),
        Rule::DoubleLock => include_str!("rules/double-lock.md"),
        Rule::UnlockNotHeld => include_str!("rules/unlock-not-held.md"),
        Rule::LockLeak => include_str!("rules/lock-leak.md"),
        Rule::WaitWithoutLock => include_str!("rules/wait-without-lock.md"),
        Rule::DestroyHeld => include_str!("rules/destroy-held.md"),
        Rule::Assertion => include_str!("rules/assertion.md"),
        Rule::UseAfterFree => include_str!("rules/use-after-free.md"),
        Rule::OutOfBounds => include_str!("rules/out-of-bounds.md"),
        Rule::NullDereference => include_str!("rules/null-dereference.md"),
        Rule::Livelock => include_str!("rules/livelock.md"),
        Rule::Property => include_str!("rules/property.md"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_page_is_about_its_rule_and_shows_both_sides() {
        for rule in Rule::ALL {
            assert!(page(rule).starts_with(&format!("{}: ", rule.name())), "{}", rule.name());
            assert!(page(rule).contains("\nBad ") && page(rule).contains(" Good\n"), "{}", rule.name());
        }
    }
}
