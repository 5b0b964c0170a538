//! The pushdown systems of a C program for people: threads and locks have their names, symbols their places in the source.

use std::collections::BTreeSet;

use super::race;
use super::race::names::Names;
use crate::deadline::Deadline;
use crate::facts::{Facts, JoinedThreads};
use crate::models::BoundModels;
use crate::program::Program;
use crate::pushdown::SymbolId;
use crate::thread_pds::holding::Identity;
use crate::thread_pds::{LockName, ProgramThreads, ThreadId, Threads};

pub struct NamedSystems {
    pub threads: Threads,
    /// By number of a place.
    places: Vec<String>,
}

impl NamedSystems {
    pub fn of(program: &Program, models: &BoundModels<'_>, facts: &Facts<'_>) -> NamedSystems {
        let prepared = race::prepare(program, models, facts);
        let (mut tabulation, _) = prepared.solve(Deadline::NEVER).expect("nothing ends it early");
        let of_facts = (&facts.points_to, &facts.call_graph, &facts.accesses);
        let joins = JoinedThreads::of(program, models, of_facts, Deadline::NEVER).expect("nothing ends it early");
        let ProgramThreads { mut threads, sources, spots, names: locks, .. } =
            ProgramThreads::of(&mut tabulation, &BTreeSet::new(), &joins, Deadline::NEVER).expect("nothing ends it early");
        let names = Names::new(program, facts);
        for (system, source) in threads.threads.iter_mut().zip(&sources) {
            system.name = names.thread(*source).to_owned();
        }
        let identity = &tabulation.identity;
        threads.locks.rename(|lock| match locks[lock.0 as usize] {
            LockName::Place(place) => names.place(identity, place, Identity::NOWHERE),
            LockName::Family(family) => names.family(identity, family),
        });
        let place = |spot: &crate::thread_pds::Spot| {
            let function = names.function(spot.site);
            program.place_of(spot.site).map_or(function.clone(), |place| format!("{place} in {function}"))
        };
        NamedSystems { places: spots.iter().map(place).collect(), threads }
    }

    /// Where a symbol stands.
    pub fn place(&self, thread: ThreadId, symbol: SymbolId) -> String {
        let number = self.threads.thread(thread).place(symbol) as usize;
        self.places.get(number).cloned().unwrap_or_default()
    }
}
