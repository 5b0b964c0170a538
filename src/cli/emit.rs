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
use crate::thread_pds::{ModelThreads, ThreadId, Threads};

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
            let (config, models) = input::load_models(&arguments.input)?;
            let program = input::load_program(&arguments.input)?;
            let entries = input::entries_or_all(&arguments.input, &config, &program)?;
            output::print(&pipeline::threads(&program, &models, &entries, arguments.dot))?;
            Ok(ExitCode::SUCCESS)
        }
        EmitKind::Pds | EmitKind::Histories | EmitKind::LockOrder => of_locks(arguments),
        EmitKind::Externals => {
            let (config, models) = input::load_models(&arguments.input)?;
            let program = input::load_program(&arguments.input)?;
            let entries = input::entries_or_all(&arguments.input, &config, &program)?;
            output::print(&pipeline::externals(&program, &models, &entries))?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// What the lock engines work on: the threads of a model, or of a program.
fn of_locks(arguments: &EmitArgs) -> Result<ExitCode, Error> {
    let text = match model::among(&arguments.input.inputs)? {
        Some(model) => {
            let threads = ModelThreads::of(&model);
            let place = |thread, symbol| model.place_text(threads.step(thread, symbol));
            written(arguments, &threads.threads, &place, &asked(&model, &threads))
        }
        None => {
            let (config, models) = input::load_models(&arguments.input)?;
            let program = input::load_program(&arguments.input)?;
            let entries = input::entries_or_all(&arguments.input, &config, &program)?;
            let systems = pipeline::systems(&program, &models, &entries);
            let place = |thread, symbol| systems.place(thread, symbol);
            written(arguments, &systems.threads, &place, &BTreeSet::new())
        }
    };
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn written(
    arguments: &EmitArgs,
    threads: &Threads,
    place: &dyn Fn(ThreadId, SymbolId) -> String,
    asked: &BTreeSet<(ThreadId, SymbolId)>,
) -> String {
    match (arguments.kind, arguments.dot) {
        (EmitKind::Pds, true) => locks::pds_dot(threads, place),
        (EmitKind::Pds, false) => locks::pds(threads, place),
        (EmitKind::LockOrder, true) => locks::lock_order_dot(threads, place),
        (EmitKind::LockOrder, false) => locks::lock_order(threads, place),
        _ => locks::histories(threads, place, asked),
    }
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
