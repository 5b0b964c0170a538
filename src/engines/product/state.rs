//! Global states, small enough to keep many: stacks are interned, small numbers are packed.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::code::Point;
use super::locks::LockState;

/// Instances that a state has room for.
pub const MOST_SLOTS: usize = 15;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    /// One slot for each instance, in the order they came into being.
    pub threads: SmallVec<[ThreadState; 4]>,
    pub locks: SmallVec<[LockState; 6]>,
    pub variables: SmallVec<[u8; 8]>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ThreadState {
    pub thread: u8,
    pub stack: StackId,
    /// What the step that is under way has loaded; 0 between steps.
    pub registers: [u8; 2],
    /// For each thread of the model the slot of the instance spawned last and not joined, plus 1.
    pub handles: Counts,
}

/// Sixteen numbers from 0 to 15.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Counts(u64);

impl Counts {
    pub const MOST: u8 = 15;

    pub fn get(self, index: usize) -> u8 {
        (self.0 >> (4 * index)) as u8 & 15
    }

    pub fn with(self, index: usize, value: u8) -> Counts {
        assert!(value <= Self::MOST && index < 16, "a count fits its four bits");
        Counts(self.0 & !(15 << (4 * index)) | u64::from(value) << (4 * index))
    }

    /// The indices of what is not 0, as bits.
    pub fn nonzero(self) -> u16 {
        (0..16).filter(|index| self.get(*index) != 0).map(|index| 1 << index).sum()
    }
}

/// A stack of points, the innermost on top; equal stacks have equal ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StackId(u32);

impl StackId {
    /// The thread has ended.
    pub const EMPTY: StackId = StackId(0);
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Frame {
    point: Point,
    below: StackId,
}

#[derive(Debug, Default)]
pub struct Stacks {
    /// The stack with id n is at n − 1, with its height.
    frames: Vec<(Frame, usize)>,
    ids: FxHashMap<Frame, StackId>,
}

impl Stacks {
    pub fn push(&mut self, point: Point, below: StackId) -> StackId {
        let frame = Frame { point, below };
        if let Some(id) = self.ids.get(&frame) {
            return *id;
        }
        self.frames.push((frame, self.height(below) + 1));
        let id = StackId(self.frames.len() as u32);
        self.ids.insert(frame, id);
        id
    }

    /// The point on top.
    pub fn top(&self, stack: StackId) -> Option<Point> {
        self.frame(stack).map(|(frame, _)| frame.point)
    }

    pub fn below(&self, stack: StackId) -> StackId {
        self.frame(stack).map_or(StackId::EMPTY, |(frame, _)| frame.below)
    }

    pub fn height(&self, stack: StackId) -> usize {
        self.frame(stack).map_or(0, |(_, height)| *height)
    }

    fn frame(&self, stack: StackId) -> Option<&(Frame, usize)> {
        self.frames.get((stack.0 as usize).checked_sub(1)?)
    }
}
