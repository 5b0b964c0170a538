//! The bytes of glibc's types: how large a primitive is, and where a static initialiser keeps its kind.

use super::lock::Discipline;
use super::mutex::MutexKind;
use super::read_write_lock::Preference;
use crate::models::LockClass;
use crate::program::DataLayout;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Primitive {
    Lock(LockClass),
    Condition,
    Barrier,
    Once,
    Semaphore,
    /// The smallest of the attribute types.
    Attribute,
}

/// The size of the type on x86-64 and i386.
pub fn size_of(primitive: Primitive, layout: &DataLayout) -> u64 {
    let (wide, narrow) = match primitive {
        Primitive::Lock(LockClass::Mutex) => (40, 24),
        Primitive::Lock(LockClass::ReadWrite) => (56, 32),
        Primitive::Lock(LockClass::Spin) | Primitive::Once | Primitive::Attribute => (4, 4),
        // Nothing is known of a user's lock but its address.
        Primitive::Lock(LockClass::Custom) => (1, 1),
        Primitive::Condition => (48, 48),
        Primitive::Barrier => (32, 20),
        Primitive::Semaphore => (32, 16),
    };
    if layout.pointer_bytes == 8 { wide } else { narrow }
}

/// Where a lock keeps its kind: offset and size of a field.
pub fn kind_field(class: LockClass, layout: &DataLayout) -> Option<(u64, u64)> {
    let is_wide = layout.pointer_bytes == 8;
    match class {
        // `__kind`
        LockClass::Mutex => Some((if is_wide { 16 } else { 12 }, 4)),
        // `__flags`
        LockClass::ReadWrite => Some(if is_wide { (48, 4) } else { (24, 1) }),
        LockClass::Spin | LockClass::Custom => None,
    }
}

/// What `pthread_mutex_destroy` leaves as the kind.
pub const DESTROYED: i32 = -1;

/// The rules that a kind field stands for; `None` for a destroyed mutex.
pub fn discipline_of(class: LockClass, kind: i32) -> Option<Discipline> {
    match class {
        LockClass::Mutex if kind < 0 => None,
        // The higher bits say robust, shared, priority, elision.
        LockClass::Mutex => Some(Discipline::Mutex(match kind & 3 {
            1 => MutexKind::Recursive,
            2 => MutexKind::ErrorChecking,
            // 0 is the default, 3 adaptive: both block.
            _ => MutexKind::Normal,
        })),
        LockClass::ReadWrite => Some(Discipline::ReadWrite(match kind {
            2 => Preference::Writers,
            _ => Preference::Readers,
        })),
        LockClass::Spin | LockClass::Custom => Some(Discipline::default_of(class)),
    }
}

/// Error numbers, as Linux has them.
pub mod errno {
    pub const EPERM: i32 = 1;
    pub const ESRCH: i32 = 3;
    pub const EAGAIN: i32 = 11;
    pub const ENOMEM: i32 = 12;
    pub const EBUSY: i32 = 16;
    pub const EINVAL: i32 = 22;
    pub const EDEADLK: i32 = 35;
    pub const EOVERFLOW: i32 = 75;
    pub const ENOTSUP: i32 = 95;
    pub const ETIMEDOUT: i32 = 110;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn static_initialisers_are_understood() {
        let mutex = |kind| discipline_of(LockClass::Mutex, kind);
        assert_eq!(mutex(0), Some(Discipline::Mutex(MutexKind::Normal)));
        assert_eq!(mutex(1), Some(Discipline::Mutex(MutexKind::Recursive)));
        assert_eq!(mutex(2), Some(Discipline::Mutex(MutexKind::ErrorChecking)));
        assert_eq!(mutex(3), Some(Discipline::Mutex(MutexKind::Normal)));
        assert_eq!(mutex(512), Some(Discipline::Mutex(MutexKind::Normal)), "elision switched off");
        assert_eq!(mutex(DESTROYED), None);
        assert_eq!(discipline_of(LockClass::ReadWrite, 2), Some(Discipline::ReadWrite(Preference::Writers)));
        assert_eq!(discipline_of(LockClass::ReadWrite, 1), Some(Discipline::ReadWrite(Preference::Readers)));
    }

    #[test]
    fn kind_fields_lie_inside_their_type() {
        for pointer_bytes in [4, 8] {
            let layout = DataLayout { pointer_bytes, triple: String::new() };
            for class in [LockClass::Mutex, LockClass::ReadWrite] {
                let (offset, size) = kind_field(class, &layout).unwrap();
                assert!(offset + size <= size_of(Primitive::Lock(class), &layout));
            }
        }
    }
}
