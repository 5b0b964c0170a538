//! Sites and source locations: the names by which traces, proofs and schedules speak of a point of the program.

use super::{FileId, FunctionId, LocationId};

/// A point of the program: an instruction of a function as it was before any normalising pass ran.
///
/// What a pass creates inherits the site it was made from, so several instructions may share one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Site {
    pub function: FunctionId,
    /// The instruction's position in the function before normalisation, counted from 0 over all blocks.
    pub index: u32,
    pub location: Option<LocationId>,
}

/// A line of source, as debug information gives it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Location {
    pub file: FileId,
    /// 0 when the compiler made the instruction up.
    pub line: u32,
    pub column: u32,
    /// The source function this line belongs to; differs from the containing function after inlining.
    pub function: String,
    /// Where that function was inlined.
    pub inlined_at: Option<LocationId>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SourceFile {
    /// As the compiler was given it.
    pub name: String,
    /// What a relative name is relative to.
    pub directory: String,
}

impl SourceFile {
    /// The name as a user knows it: as it was given to the compiler.
    pub fn path(&self) -> String {
        self.name.clone()
    }

    /// Where the file can be read.
    pub fn absolute(&self) -> std::path::PathBuf {
        std::path::Path::new(&self.directory).join(&self.name)
    }
}
