//! Thread-specific data: keys, the values threads keep under them, and destructors.

use std::collections::BTreeMap;

use crate::explore::thread_id::ThreadId;
use crate::explore::value::Pointer;

/// `PTHREAD_KEYS_MAX`.
pub const MAXIMUM: usize = 1024;
/// `PTHREAD_DESTRUCTOR_ITERATIONS`.
pub const DESTRUCTOR_ROUNDS: u32 = 4;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Keys {
    /// By key; `None` for a deleted one. The destructor may be null.
    destructors: Vec<Option<Pointer>>,
    /// What is not null, by key and thread.
    values: BTreeMap<(ThreadId, u32), Pointer>,
}

impl Keys {
    /// A key that was never used before; `None` when there are too many.
    pub fn create(&mut self, destructor: Pointer) -> Option<u32> {
        if self.destructors.iter().flatten().count() >= MAXIMUM {
            return None;
        }
        self.destructors.push(Some(destructor));
        Some(self.destructors.len() as u32 - 1)
    }

    pub fn exists(&self, key: u32) -> bool {
        self.destructors.get(key as usize).is_some_and(Option::is_some)
    }

    /// Forgets the key; no destructor runs. `false` when there is no such key.
    pub fn delete(&mut self, key: u32) -> bool {
        let existed = self.destructors.get_mut(key as usize).and_then(Option::take).is_some();
        self.values.retain(|(_, other), _| *other != key);
        existed
    }

    pub fn set(&mut self, thread: ThreadId, key: u32, value: Pointer) -> bool {
        if !self.exists(key) {
            return false;
        }
        if value.is_null() {
            self.values.remove(&(thread, key));
        } else {
            self.values.insert((thread, key), value);
        }
        true
    }

    pub fn get(&self, thread: ThreadId, key: u32) -> Pointer {
        self.values.get(&(thread, key)).copied().unwrap_or(Pointer::NULL)
    }

    /// Whether a destructor is still to be called for this thread, from `key` on.
    ///
    /// Takes the value away, as the destructor is called with it: key, destructor, value.
    pub fn take_next(&mut self, thread: ThreadId, from: u32) -> Option<(u32, Pointer, Pointer)> {
        let has_destructor = |key: u32| self.destructors[key as usize].filter(|destructor| !destructor.is_null());
        let range = self.values.range((thread, from)..=(thread, u32::MAX));
        let found = range.map(|((_, key), value)| (*key, *value));
        let (key, destructor, value) = found.filter_map(|(key, value)| has_destructor(key).map(|d| (key, d, value))).next()?;
        self.values.remove(&(thread, key));
        Some((key, destructor, value))
    }

    /// The thread has ended.
    pub fn forget_thread(&mut self, thread: ThreadId) {
        self.values.retain(|(owner, _), _| *owner != thread);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: ThreadId = ThreadId(1);
    const B: ThreadId = ThreadId(2);

    fn pointer(address: u64) -> Pointer {
        Pointer { address, object: None }
    }

    #[test]
    fn each_thread_has_its_own_value() {
        let mut keys = Keys::default();
        let key = keys.create(Pointer::NULL).unwrap();
        assert!(keys.set(A, key, pointer(1)));
        assert_eq!((keys.get(A, key), keys.get(B, key)), (pointer(1), Pointer::NULL));
    }

    #[test]
    fn destructors_get_the_value_of_their_key_once() {
        let mut keys = Keys::default();
        let first = keys.create(pointer(100)).unwrap();
        let without = keys.create(Pointer::NULL).unwrap();
        let last = keys.create(pointer(200)).unwrap();
        for (key, value) in [(first, 1), (without, 2), (last, 3)] {
            keys.set(A, key, pointer(value));
        }
        assert_eq!(keys.take_next(A, 0), Some((first, pointer(100), pointer(1))));
        assert_eq!(keys.take_next(A, first + 1), Some((last, pointer(200), pointer(3))));
        assert_eq!(keys.take_next(A, 0), None);
        assert_eq!(keys.take_next(B, 0), None);
    }

    #[test]
    fn a_deleted_key_is_gone_and_its_number_is_not_used_again() {
        let mut keys = Keys::default();
        let key = keys.create(pointer(100)).unwrap();
        keys.set(A, key, pointer(1));
        assert!(keys.delete(key));
        assert!(!keys.delete(key));
        assert!(!keys.set(A, key, pointer(1)));
        assert_eq!(keys.take_next(A, 0), None);
        assert_ne!(keys.create(pointer(100)).unwrap(), key);
    }
}
