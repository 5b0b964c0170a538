//! Constraints: what waits for a node's set to grow, beside the edges along which it is copied.

use super::form::Form;
use super::graph::NodeId;
use crate::program::{OffsetTarget, StructureId};

/// What happens when the set of the node it is attached to grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Constraint {
    /// `to ⊇ *node`.
    Load {
        to: NodeId,
        form: Form,
    },
    /// `*node ⊇ from`.
    Store {
        from: NodeId,
        form: Form,
    },
    /// As soon as the node holds anything: `*address ⊇ node`. Most stored numbers never do.
    StoreTo {
        address: NodeId,
        form: Form,
    },
    /// `to ⊇ node + constant + n·stride + m·step`, 0 ≤ m < `count`.
    Shift {
        to: NodeId,
        constant: i64,
        stride: u64,
        step: u32,
        count: u32,
        in_bounds: bool,
        /// The node is used as a pointer to this structure.
        structure: Option<StructureId>,
        target: OffsetTarget,
    },
    /// The low bits of the address are cleared, set or flipped.
    LowBits {
        to: NodeId,
        operation: LowBits,
        bits: u64,
    },
    /// The node is the source, or the destination, of a copy of memory.
    CopySource {
        copy: u32,
    },
    CopyDestination {
        copy: u32,
    },
    /// What the node points to is called.
    Call {
        call: u32,
    },
    /// What the node points to is known outside the program.
    Escape,
    /// What the node points to is accessed through a horde (`horde`).
    Access,
}

impl Constraint {
    /// `to` is the node's addresses, `constant` and any number of strides further on.
    pub fn shift(to: NodeId, constant: i64, stride: u64, in_bounds: bool) -> Constraint {
        Constraint::Shift { to, constant, stride, step: 0, count: 1, in_bounds, structure: None, target: OffsetTarget::Moved }
    }

    /// `to` is the node's addresses, moved anywhere inside their objects.
    pub fn anywhere(to: NodeId) -> Constraint {
        Constraint::shift(to, 0, 1, false)
    }

    /// The same shift, with another result.
    pub fn going(self, to: NodeId) -> Constraint {
        match self {
            Constraint::Shift { constant, stride, step, count, in_bounds, structure, target, .. } => {
                Constraint::Shift { to, constant, stride, step, count, in_bounds, structure, target }
            }
            other => other,
        }
    }

    /// The same, in those that can hold the structure.
    pub fn anywhere_inside(to: NodeId, structure: StructureId) -> Constraint {
        let (structure, target) = (Some(structure), OffsetTarget::Moved);
        Constraint::Shift { to, constant: 0, stride: 1, step: 0, count: 1, in_bounds: false, structure, target }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum LowBits {
    Clear,
    Set,
    Flip,
}
