//! `lockcheck emit`: what a stage made, as text.

use std::collections::BTreeSet;
use std::process::ExitCode;

use super::arguments::{EmitArgs, EmitKind};
use super::{input, model, not_built, output};
use crate::error::Error;
use crate::pipeline;
use crate::program::text;
use crate::pushdown::SymbolId;
use crate::report::locks;
use crate::thread_model::{Place, Question, ThreadModel};
use crate::thread_pds::{ModelThreads, ThreadId};

pub fn run(arguments: &EmitArgs) -> Result<ExitCode, Error> {
    let has_graph = matches!(arguments.kind, EmitKind::Threads | EmitKind::Pds | EmitKind::LockOrder);
    if arguments.dot && !has_graph {
        return Err(not_built("emit --dot of anything but threads, pds and lock-order"));
    }
    match arguments.kind {
        EmitKind::Program => {
            let program = input::load_program(&arguments.input)?;
            output::print(&text::print(&program))?;
            Ok(ExitCode::SUCCESS)
        }
        EmitKind::Threads => {
            let (_, models) = input::load_models(&arguments.input)?;
            let program = input::load_program(&arguments.input)?;
            output::print(&pipeline::threads(&program, &models, arguments.dot))?;
            Ok(ExitCode::SUCCESS)
        }
        EmitKind::Pds | EmitKind::Histories | EmitKind::LockOrder => of_locks(arguments),
        EmitKind::Externals => Err(not_built("emit externals")),
    }
}

/// What the lock engines work on.
fn of_locks(arguments: &EmitArgs) -> Result<ExitCode, Error> {
    let Some(model) = model::among(&arguments.input.inputs)? else {
        let kind = match arguments.kind {
            EmitKind::Pds => "pds",
            EmitKind::LockOrder => "lock-order",
            _ => "histories",
        };
        return Err(not_built(&format!("emit {kind} of anything but a thread model")));
    };
    let threads = ModelThreads::of(&model);
    let place = |thread, symbol| model.place_text(threads.step(thread, symbol));
    let text = match (arguments.kind, arguments.dot) {
        (EmitKind::Pds, true) => locks::pds_dot(&threads.threads, &place),
        (EmitKind::Pds, false) => locks::pds(&threads.threads, &place),
        (EmitKind::LockOrder, true) => locks::lock_order_dot(&threads.threads, &place),
        (EmitKind::LockOrder, false) => locks::lock_order(&threads.threads, &place),
        _ => locks::histories(&threads.threads, &place, &asked(&model, &threads)),
    };
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// The places that the queries of a model speak of.
fn asked(model: &ThreadModel, threads: &ModelThreads) -> BTreeSet<(ThreadId, SymbolId)> {
    let places = model.queries.iter().filter_map(|query| match &query.question {
        Question::Reachable(places) => Some(places),
        Question::Race(_) | Question::Deadlock | Question::Other(_) => None,
    });
    let symbol = |place: &Place| (ThreadId(place.thread as u32), threads.symbol(place.thread, model.place(place)));
    places.flatten().map(symbol).collect()
}
