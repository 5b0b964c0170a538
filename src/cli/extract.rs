//! `lockcheck extract`: the bitcode that a built program carries, linked, for other tools.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::input;
use crate::error::Error;
use crate::frontend::{self, LoadOptions};

pub fn run(program: &[PathBuf], strict: bool, output: &Path) -> Result<ExitCode, Error> {
    let coverages = frontend::extract(program, &LoadOptions { strict, ..LoadOptions::default() }, output)?;
    input::say_coverage(&coverages);
    Ok(ExitCode::SUCCESS)
}
