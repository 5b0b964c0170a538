//! Which two instances are never there at once, because one creates the other, or somebody creates and joins them in turn.
//!
//! # Theorem      See `thread_pds::creation` and `thread_pds::population`. A creator and its child are compared from the creation on: what the creator holds
//!                since before, the child cannot have taken.

use crate::facts::OrderReason;
use crate::locks::history::{Creation, Incompatible, Whole, check};
use crate::pushdown::SymbolId;
use crate::thread_pds::{Analysis, Origin, ThreadId};

/// An instance of a thread that stands somewhere.
pub type Place = (ThreadId, Origin, SymbolId);

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotTogether {
    /// The creator is not there after the creation, or only after the child's end.
    NotAfterCreation { creator: ThreadId, child: ThreadId },
    /// Since the creation, locks keep them apart.
    SinceCreation { creator: ThreadId, child: ThreadId, reason: Incompatible },
    /// Whoever creates both has joined one before it creates the other.
    OneAfterTheOther { creator: ThreadId },
    /// The producer of the systems knows it.
    Ordered(OrderReason),
}

/// Why two instances do not stand there at once, if that is known.
pub fn not_together(analysis: &mut Analysis<'_>, one: Place, other: Place) -> Option<NotTogether> {
    if let Some(order) = &analysis.threads.order {
        return order.apart((one.0, one.2), (other.0, other.2)).map(NotTogether::Ordered);
    }
    if one.1 == Origin::Start && other.1 == Origin::Start {
        return None;
    }
    let above = |analysis: &Analysis<'_>, creator: Place, child: Place| {
        let line = analysis.population.line(child.0);
        let at = line.iter().skip(1).position(|thread| *thread == creator.0)?;
        // The next in line is the child itself, or leads to it.
        Some((line[at], at == 0))
    };
    for (creator, child) in [(one, other), (other, one)] {
        if child.1 == Origin::Created
            && let Some((next, is_child)) = above(analysis, creator, child)
        {
            return since_creation(analysis, creator, child, next, is_child);
        }
    }
    if one.1 == Origin::Start || other.1 == Origin::Start {
        return None;
    }
    let (line, other_line) = (analysis.population.line(one.0), analysis.population.line(other.0));
    let creator = *line.iter().skip(1).find(|thread| other_line.iter().skip(1).any(|other| other == *thread))?;
    let next = |line: &[ThreadId]| line[line.iter().position(|thread| *thread == creator).expect("it is in the line") - 1];
    let (first, second) = (next(&line), next(&other_line));
    let may_be = analysis.creates_after(creator, first, second, first == one.0)
        || analysis.creates_after(creator, second, first, second == other.0);
    (!may_be).then_some(NotTogether::OneAfterTheOther { creator })
}

fn since_creation(
    analysis: &mut Analysis<'_>,
    creator: Place,
    child: Place,
    next: ThreadId,
    is_child: bool,
) -> Option<NotTogether> {
    let parents = analysis.histories_after_creation(creator.0, creator.1, next, is_child, creator.2);
    let children = analysis.histories_at(child.0, child.1, child.2);
    let creation = [Creation { parent: 0, moment: analysis.moment(), child: 1 }];
    let mut reason = None;
    for parent in &parents {
        for history in children.iter() {
            match check(&[parent as &Whole, history], &creation) {
                Ok(()) => return None,
                Err(incompatible) => reason = reason.or(Some(incompatible)),
            }
        }
    }
    let (creator, child) = (creator.0, child.0);
    Some(match reason {
        Some(reason) => NotTogether::SinceCreation { creator, child, reason },
        None => NotTogether::NotAfterCreation { creator, child },
    })
}
