//! Parts: memory that belongs to a thread because it is what the thread was created with.
//!
//! # Definition   An object is *parted* when the argument of one thread alone may point into it, at equal distances, and instances of the thread that may overlap get
//!                arguments at least so far apart; or when the thread exists once. The part of an instance are the bytes from its argument on, as many as that distance.
//! # Theorem      An address that is counted from the argument, and lies so many bytes behind it that it is inside the part, is in no part of another instance that may
//!                run at the same time. Instances with one argument, one after the other, are one owner.
//! # Deviations   How far an address lies behind the argument is known only where points-to knows the place in the object; an address that was stepped out of the part and back
//!                is none of it.

use super::super::call_graph::{CallGraph, CallKind};
use super::super::points_to::{AbstractObjectId, AbstractObjectKind, Location, Offset, PointsTo};
use super::super::threads::{AbstractThread, ThreadId, ThreadKind, Threads};
use super::super::values::InPart;
use super::origins::Reach;
use crate::program::{FunctionId, Operand, Program};

/// An object of which each instance of a thread has a part.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub object: AbstractObjectId,
    pub entry: FunctionId,
    /// The first byte of a part and the bytes of each; `None` when there is one instance, to which everything belongs.
    extent: Option<(u64, u64)>,
}

impl Part {
    /// Whether so many bytes at an address that lies behind a place of a part are in the part.
    pub fn holds(&self, place: Offset, reach: Reach, size: Option<u64>) -> bool {
        self.extent.is_none() || self.bytes(place, reach, size).is_some()
    }

    /// Where such bytes lie; `None` if that may be outside the part, or in two cells.
    pub fn in_part(&self, place: Offset, reach: Reach, size: Option<u64>) -> Option<InPart> {
        let (from, to) = self.bytes(place, reach, size)?;
        let (first, width) = self.extent?;
        let cells = (first + from) / width;
        (first + to <= (cells + 1) * width).then_some(InPart { first, width, cells })
    }

    /// The first one, counted from where the part begins, and the one behind the last.
    fn bytes(&self, place: Offset, reach: Reach, size: Option<u64>) -> Option<(u64, u64)> {
        let (first, width) = self.extent?;
        let at = match place {
            Offset::At(at) => at,
            Offset::Class { residue, stride } if stride % width == 0 => residue,
            Offset::Class { .. } | Offset::Any => return None,
        };
        let (Reach::Between(least, most), Some(size)) = (reach, size) else { return None };
        let at = (i128::from(at) - i128::from(first)).rem_euclid(width.into());
        let from = u64::try_from(at + i128::from(least)).ok()?;
        let to = u64::try_from(at + i128::from(most) + i128::from(size)).ok()?;
        (to <= width).then_some((from, to))
    }
}

/// The parted objects of a program, ascending.
pub(super) fn parts(program: &Program, points_to: &PointsTo, calls: &CallGraph, threads: &Threads) -> Vec<Part> {
    let created: Vec<(ThreadId, &AbstractThread)> =
        threads.threads().filter(|(_, thread)| thread.kind == ThreadKind::Created).collect();
    let argument = |entry: FunctionId| {
        let register = program.functions[entry].parameters.first().map(|parameter| parameter.register);
        register.into_iter().flat_map(move |register| points_to.pointees(entry, Operand::Register(register)))
    };
    let mut parts = Vec::new();
    for (thread, known) in &created {
        let Some(entry) = known.entry.filter(|entry| calls.calls_of(*entry).iter().all(|edge| edge.kind == CallKind::Spawn))
        else {
            continue;
        };
        let mut places = argument(entry);
        let (Some(Location { object, offset }), None) = (places.next(), places.next()) else { continue };
        let is_other = |other: &&(ThreadId, &AbstractThread)| other.0 != *thread;
        let reaches = |other: &(ThreadId, &AbstractThread)| match other.1.entry {
            Some(entry) => argument(entry).any(|place| place.object == object || is_vague(points_to, place.object)),
            None => true,
        };
        let extent = match (threads.argument_distance(*thread), offset) {
            _ if !known.is_many => None,
            (Some(width), Offset::At(first)) if width > 0 => Some((first, width)),
            (Some(width), Offset::Class { residue, stride }) if width > 0 && stride % width == 0 => {
                Some((residue % width, width))
            }
            _ => continue,
        };
        if !known.is_cut && !created.iter().filter(is_other).any(reaches) && can_be_parted(program, points_to, object) {
            parts.push(Part { object, entry, extent });
        }
    }
    parts.sort_unstable_by_key(|part| part.object);
    parts
}

fn is_vague(points_to: &PointsTo, object: AbstractObjectId) -> bool {
    matches!(points_to.object(object).kind, AbstractObjectKind::Unknown | AbstractObjectKind::Residue)
}

/// Whether all addresses in an object were put there by instructions of the program.
fn can_be_parted(program: &Program, points_to: &PointsTo, object: AbstractObjectId) -> bool {
    match points_to.object(object).kind {
        AbstractObjectKind::Global(global) => {
            let global = &program.globals[global];
            !global.is_external && global.relocations.is_empty()
        }
        AbstractObjectKind::Heap { .. } | AbstractObjectKind::StackSlot { .. } => true,
        _ => false,
    }
}
