//! A value whose copies are shared until one of them is changed.

use std::ops::Deref;

use triomphe::Arc;

/// Cloning is one reference count; the first change after a clone copies.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Shared<T>(Arc<T>);

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        Shared(Arc::clone(&self.0))
    }
}

impl<T> Shared<T> {
    pub fn new(value: T) -> Self {
        Shared(Arc::new(value))
    }
}

impl<T: Clone> Shared<T> {
    pub fn change(&mut self) -> &mut T {
        Arc::make_mut(&mut self.0)
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::Shared;

    #[test]
    fn a_copy_keeps_what_it_saw() {
        let mut now = Shared::new(vec![1]);
        let before = now.clone();
        now.change().push(2);
        assert_eq!((&**before, &**now), (&[1][..], &[1, 2][..]));
    }
}
