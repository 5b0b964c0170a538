//! The one vocabulary: checks, the rules of each, and the words annotations use.

/// A family of rules that can be asked for with `--check`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Check {
    Race,
    Deadlock,
    Atomicity,
    Misuse,
    Safety,
    Property,
}

impl Check {
    pub const ALL: [Check; 6] = [Self::Race, Self::Deadlock, Self::Atomicity, Self::Misuse, Self::Safety, Self::Property];

    /// What is checked unless `--check` says otherwise. Properties are checked when a user writes some.
    pub const DEFAULT: [Check; 5] = [Self::Race, Self::Deadlock, Self::Atomicity, Self::Misuse, Self::Safety];

    pub fn name(self) -> &'static str {
        match self {
            Self::Race => "race",
            Self::Deadlock => "deadlock",
            Self::Atomicity => "atomicity",
            Self::Misuse => "misuse",
            Self::Safety => "safety",
            Self::Property => "property",
        }
    }

    pub fn from_name(name: &str) -> Option<Check> {
        Self::ALL.into_iter().find(|check| check.name() == name)
    }
}

/// What kind of bug a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rule {
    DataRace,
    Deadlock,
    Atomicity,
    DoubleLock,
    UnlockNotHeld,
    LockLeak,
    WaitWithoutLock,
    DestroyHeld,
    Assertion,
    UseAfterFree,
    OutOfBounds,
    NullDereference,
    Livelock,
    Property,
}

impl Rule {
    pub const ALL: [Rule; 14] = [
        Self::DataRace,
        Self::Deadlock,
        Self::Atomicity,
        Self::DoubleLock,
        Self::UnlockNotHeld,
        Self::LockLeak,
        Self::WaitWithoutLock,
        Self::DestroyHeld,
        Self::Assertion,
        Self::UseAfterFree,
        Self::OutOfBounds,
        Self::NullDereference,
        Self::Livelock,
        Self::Property,
    ];

    /// The word in JSON, in brackets in text, and after `lockcheck-` in suppressions.
    pub fn name(self) -> &'static str {
        match self {
            Self::DataRace => "data-race",
            Self::Deadlock => "deadlock",
            Self::Atomicity => "atomicity",
            Self::DoubleLock => "double-lock",
            Self::UnlockNotHeld => "unlock-not-held",
            Self::LockLeak => "lock-leak",
            Self::WaitWithoutLock => "wait-without-lock",
            Self::DestroyHeld => "destroy-held",
            Self::Assertion => "assertion",
            Self::UseAfterFree => "use-after-free",
            Self::OutOfBounds => "out-of-bounds",
            Self::NullDereference => "null-dereference",
            Self::Livelock => "livelock",
            Self::Property => "property",
        }
    }

    pub fn from_name(name: &str) -> Option<Rule> {
        Self::ALL.into_iter().find(|rule| rule.name() == name)
    }

    pub fn check(self) -> Check {
        match self {
            Self::DataRace => Check::Race,
            Self::Deadlock => Check::Deadlock,
            Self::Atomicity => Check::Atomicity,
            Self::DoubleLock | Self::UnlockNotHeld | Self::LockLeak | Self::WaitWithoutLock | Self::DestroyHeld => Check::Misuse,
            Self::Assertion | Self::UseAfterFree | Self::OutOfBounds | Self::NullDereference | Self::Livelock => Check::Safety,
            Self::Property => Check::Property,
        }
    }

    /// Whether whoever asks for a check wants to know of this. A thread that waits for itself is a deadlock, too.
    pub fn concerns(self, check: Check) -> bool {
        self.check() == check || (self, check) == (Self::DoubleLock, Check::Deadlock)
    }

    /// The same of several checks.
    pub fn concerns_any(self, checks: &[Check]) -> bool {
        checks.iter().any(|check| self.concerns(*check))
    }

    /// The word that claims in C examples use.
    pub fn annotation(self) -> &'static str {
        match self {
            Self::DataRace => "race",
            Self::Atomicity => "unserializable",
            other => other.name(),
        }
    }
}
