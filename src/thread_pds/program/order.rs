//! Which points of threads are never at once: the order of creations and joins, point by point.
//!
//! # Theorem      Two symbols are apart if in every two phases in which their threads may stand there, the threads' order keeps them apart
//!                (`facts::threads`). So no run has two instances stand at both at once.

use std::collections::BTreeMap;

use super::super::system::ThreadId;
use crate::deadline::{Deadline, OutOfTime};
use crate::facts::{self, OrderReason, PhaseId, Relation};
use crate::pushdown::SymbolId;

/// A thread in a phase, by number.
type PointNumber = u32;

/// More points are not told apart.
const MOST_POINTS: usize = 1_500;

/// What a producer knows of the order of its threads.
#[derive(Clone, Debug, Default)]
pub struct KnownOrder {
    /// By thread and symbol.
    points: Vec<Vec<Vec<PointNumber>>>,
    /// By two points, the smaller first: why they are apart.
    apart: Vec<Vec<Option<OrderReason>>>,
}

impl KnownOrder {
    /// `phases`: by thread and symbol.
    pub fn of(
        threads: &facts::Threads,
        sources: &[facts::ThreadId],
        phases: &[Vec<Vec<PhaseId>>],
        deadline: Deadline,
    ) -> Result<KnownOrder, OutOfTime> {
        let mut numbers: BTreeMap<(facts::ThreadId, PhaseId), PointNumber> = BTreeMap::new();
        let mut points = Vec::new();
        for (source, of_thread) in sources.iter().zip(phases) {
            let mut of_symbols = Vec::new();
            for phases in of_thread {
                let number = |phase: &PhaseId| {
                    let next = numbers.len() as PointNumber;
                    *numbers.entry((*source, *phase)).or_insert(next)
                };
                of_symbols.push(phases.iter().map(number).collect());
            }
            points.push(of_symbols);
        }
        if numbers.len() > MOST_POINTS {
            return Ok(KnownOrder::default());
        }
        let mut all: Vec<((facts::ThreadId, PhaseId), PointNumber)> = numbers.into_iter().collect();
        all.sort_by_key(|(_, number)| *number);
        let relation = |one: usize, other: usize| match threads.relation(all[one].0, all[other].0) {
            Relation::MayOverlap => None,
            Relation::Ordered(reason) => Some(reason),
        };
        let mut apart = Vec::with_capacity(all.len());
        for one in 0..all.len() {
            deadline.check()?;
            apart.push((0..=one).map(|other| relation(one, other)).collect());
        }
        Ok(KnownOrder { points, apart })
    }

    /// What decides which places a place is apart from.
    pub fn points(&self, thread: ThreadId, symbol: SymbolId) -> &[PointNumber] {
        let of_thread = self.points.get(thread.index());
        of_thread.and_then(|symbols| symbols.get(usize::from(symbol))).map_or(&[], Vec::as_slice)
    }

    /// Why two instances, of two threads or of one, never stand there at once.
    pub fn apart(&self, one: (ThreadId, SymbolId), other: (ThreadId, SymbolId)) -> Option<OrderReason> {
        let points = |(thread, symbol): (ThreadId, SymbolId)| self.points.get(thread.index())?.get(usize::from(symbol));
        let (ones, others) = (points(one)?, points(other)?);
        let mut reason = None;
        for one in ones {
            for other in others {
                let (large, small) = (*one.max(other) as usize, *one.min(other) as usize);
                reason = Some(self.apart[large][small]?);
            }
        }
        reason
    }
}
