//! Lowering: an LLVM module becomes an owned [`Program`]. After this door no LLVM type exists.
//!
//! The order of work: names of functions, globals and blocks first, so that everything can refer to everything; then initial values;
//! then bodies. What LLVM has and a program has not (constant expressions, aliases, intrinsics that only advise the compiler) is
//! expanded, resolved or dropped here; what cannot be represented becomes an [`Assumption`](crate::program::Assumption) with its place.

mod aggregate;
mod alias;
mod body;
mod call;
mod constant;
mod debug_type;
mod expression;
mod function;
mod global;
mod initializer;
mod instruction;
mod intrinsic;
mod intrinsic_call;
mod llvm;
mod location;
mod memory;
mod processor;
mod site;
mod structure;
mod terminator;
mod types;
mod variable;
mod vector;

use indexmap::IndexSet;
use inkwell::module::Module;
use rustc_hash::{FxBuildHasher, FxHashMap};

use crate::error::Error;
use crate::program::{Assumption, AssumptionKind, BlockId, ConstantId, FunctionId, GlobalId, Place, Program, SiteId};
use debug_type::DebugTypes;
use global::PendingInitializer;
use intrinsic::KnownIntrinsic;
use llvm::{BasicBlock, Metadata, ModuleHandle, Value};
use location::Locations;
use types::Types;

/// Lowers a module, which must have passed LLVM's verifier.
pub fn lower(module: &Module<'_>) -> Result<Program, Error> {
    let module = ModuleHandle::new(module);
    let mut lowering = Lowering::new(module)?;
    lowering.declare_functions();
    lowering.declare_globals();
    lowering.initialize_globals();
    lowering.lower_bodies();
    lowering.lower_constructors();
    lowering.note_module_assumptions();
    let program = lowering.finish();
    #[cfg(debug_assertions)]
    if let Err(violations) = crate::program::validate::validate(&program) {
        panic!("lowering broke an invariant of programs:\n{violations}");
    }
    Ok(program)
}

/// What is known of the module while it is lowered.
struct Lowering {
    module: ModuleHandle,
    program: Program,
    types: Types,
    functions: FxHashMap<Value, FunctionId>,
    globals: FxHashMap<Value, GlobalId>,
    /// Of all functions, because the address of a label may stand anywhere.
    blocks: FxHashMap<BasicBlock, BlockId>,
    /// The constants that are leaves; `None` for those that take instructions to compute.
    constants: FxHashMap<Value, Option<ConstantId>>,
    intrinsics: FxHashMap<Value, KnownIntrinsic>,
    locations: Locations,
    debug_types: DebugTypes,
    variables: FxHashMap<Metadata, crate::program::VariableId>,
    expressions: variable::Expressions,
    assumptions: IndexSet<Assumption, FxBuildHasher>,
    /// Parts of initial values that only running code can compute.
    pending: Vec<PendingInitializer>,
    attributes: Attributes,
    alias_types: alias::AliasTypes,
    structures: structure::StructureNames,
    alias_kind: std::ffi::c_uint,
    alias_struct_kind: std::ffi::c_uint,
    structure_kind: std::ffi::c_uint,
    site_kind: std::ffi::c_uint,
    has_sites: bool,
}

/// The numbers of the attributes that lowering reads.
#[derive(Clone, Copy)]
struct Attributes {
    by_value: std::ffi::c_uint,
    align: std::ffi::c_uint,
}

impl Lowering {
    fn new(module: ModuleHandle) -> Result<Self, Error> {
        let layout = module.layout();
        let pointer_bytes = layout.pointer_bytes();
        if !layout.is_little_endian() || !matches!(pointer_bytes, 4 | 8) {
            return Err(Error::UnsupportedTarget { file: module.identifier().into(), target: module.triple() });
        }
        let mut program = Program::default();
        program.layout.pointer_bytes = pointer_bytes;
        program.layout.triple = module.triple();
        let site_kind = module.metadata_kind("lockcheck.site");
        Ok(Self {
            module,
            program,
            types: Types::new(layout),
            functions: FxHashMap::default(),
            globals: FxHashMap::default(),
            blocks: FxHashMap::default(),
            constants: FxHashMap::default(),
            intrinsics: FxHashMap::default(),
            locations: Locations::default(),
            debug_types: DebugTypes::default(),
            variables: FxHashMap::default(),
            expressions: variable::Expressions::new(module),
            assumptions: IndexSet::default(),
            pending: Vec::new(),
            attributes: Attributes { by_value: llvm::attribute_kind("byval"), align: llvm::attribute_kind("align") },
            alias_types: alias::AliasTypes::default(),
            structures: structure::StructureNames::default(),
            alias_kind: module.metadata_kind("tbaa"),
            alias_struct_kind: module.metadata_kind("tbaa.struct"),
            structure_kind: module.metadata_kind(super::mark::METADATA_NAME),
            site_kind,
            has_sites: site::module_has_sites(module, site_kind),
        })
    }

    fn assume(&mut self, kind: AssumptionKind, what: String, place: Option<Place>) {
        self.assumptions.insert(Assumption { kind, what, place });
    }

    fn assume_at(&mut self, kind: AssumptionKind, what: String, site: SiteId) {
        let place = self.program.place_of(site).or_else(|| self.place_of_function(self.program.sites[site].function));
        self.assume(kind, what, place);
    }

    /// Where a function begins: the next best place for an instruction that the compiler made up.
    fn place_of_function(&self, function: FunctionId) -> Option<Place> {
        let function = &self.program.functions[function];
        let file = self.program.files[function.file?].path();
        Some(Place { file, line: function.line, column: 0 })
    }

    fn note_module_assumptions(&mut self) {
        let assembly = self.module.inline_assembly();
        if !assembly.trim().is_empty() {
            self.assume(AssumptionKind::InlineAssembly, assembly.trim().to_owned(), None);
        }
        let has_debug_information = self.module.functions().any(|function| function.subprogram(self.module).is_some());
        if !has_debug_information && self.program.functions.iter().any(|function| function.is_defined()) {
            self.assume(AssumptionKind::NoDebugInformation, self.module.identifier(), None);
        }
    }

    fn finish(mut self) -> Program {
        self.program.assumptions = self.assumptions.into_iter().collect();
        self.program.renumber_constants();
        self.program
    }
}
