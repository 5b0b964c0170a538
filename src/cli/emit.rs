//! `lockcheck emit`: what a stage made, as text.

use std::process::ExitCode;

use super::arguments::{EmitArgs, EmitKind};
use super::{input, not_built, output};
use crate::error::Error;
use crate::pipeline;
use crate::program::text;

pub fn run(arguments: &EmitArgs) -> Result<ExitCode, Error> {
    if arguments.dot && arguments.kind != EmitKind::Threads {
        return Err(not_built("emit --dot of anything but threads"));
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
        EmitKind::Pds => Err(not_built("emit pds")),
        EmitKind::Histories => Err(not_built("emit histories")),
        EmitKind::LockOrder => Err(not_built("emit lock-order")),
        EmitKind::Externals => {
            let (_, models) = input::load_models(&arguments.input)?;
            let program = input::load_program(&arguments.input)?;
            output::print(&pipeline::externals(&program, &models))?;
            Ok(ExitCode::SUCCESS)
        }
    }
}
