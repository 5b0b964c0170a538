//! Counting semaphores.

/// `SEM_VALUE_MAX`.
pub const MAXIMUM: u64 = i32::MAX as u64;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Semaphore {
    value: u64,
}

impl Semaphore {
    /// `None` when the value is too large.
    pub fn new(value: u64) -> Option<Semaphore> {
        (value <= MAXIMUM).then_some(Semaphore { value })
    }

    pub fn value(self) -> u64 {
        self.value
    }

    /// Takes one unit, if there is one.
    pub fn take(&mut self) -> bool {
        let has_unit = self.value > 0;
        self.value -= u64::from(has_unit);
        has_unit
    }

    /// Adds one unit; `false` when the value would overflow.
    pub fn post(&mut self) -> bool {
        let has_room = self.value < MAXIMUM;
        self.value += u64::from(has_room);
        has_room
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_counted() {
        let mut semaphore = Semaphore::new(1).unwrap();
        assert!(semaphore.take());
        assert!(!semaphore.take());
        assert!(semaphore.post() && semaphore.post());
        assert_eq!(semaphore.value(), 2);
    }

    #[test]
    fn values_have_a_limit() {
        assert_eq!(Semaphore::new(MAXIMUM + 1), None);
        let mut full = Semaphore::new(MAXIMUM).unwrap();
        assert!(!full.post());
        assert_eq!(full.value(), MAXIMUM);
    }
}
