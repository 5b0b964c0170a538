//! Sites: the number that every instruction got before any pass ran, read back from its metadata.

use super::Lowering;
use super::llvm::{ModuleHandle, Value};
use crate::program::{FunctionId, Site, SiteId};

/// Whether the module was numbered; if not, lowering numbers it as it stands.
pub fn module_has_sites(module: ModuleHandle, kind: std::ffi::c_uint) -> bool {
    module
        .functions()
        .flat_map(Value::blocks)
        .flat_map(|block| block.instructions())
        .any(|instruction| instruction.integer_metadata(kind).is_some())
}

/// The sites of one function: one for each number that is left after the passes.
pub struct FunctionSites {
    function: FunctionId,
    by_index: Vec<Option<SiteId>>,
    /// Instructions seen, when the module carries no numbers.
    counter: u32,
    last: Option<SiteId>,
}

impl FunctionSites {
    pub fn new(function: FunctionId) -> Self {
        Self { function, by_index: Vec::new(), counter: 0, last: None }
    }

    fn get(&mut self, lowering: &mut Lowering, index: u32) -> SiteId {
        let slot = index as usize;
        if self.by_index.len() <= slot {
            self.by_index.resize(slot + 1, None);
        }
        let new_site = Site { function: self.function, index, location: None };
        *self.by_index[slot].get_or_insert_with(|| lowering.program.sites.push_and_get_key(new_site))
    }

    /// One site for each instruction of a block. What has no number of its own inherits that of the next instruction that has one,
    /// or else of the one before.
    pub fn of_block(&mut self, lowering: &mut Lowering, instructions: &[Value]) -> Vec<SiteId> {
        let own: Vec<Option<SiteId>> = instructions.iter().map(|&value| self.own_site(lowering, value)).collect();
        let mut sites = vec![None; own.len()];
        let mut next = None;
        for position in (0..own.len()).rev() {
            next = own[position].or(next);
            sites[position] = next;
        }
        sites
            .into_iter()
            .map(|site| {
                let site = site.or(self.last).unwrap_or_else(|| self.get(lowering, 0));
                self.last = Some(site);
                site
            })
            .collect()
    }

    fn own_site(&mut self, lowering: &mut Lowering, instruction: Value) -> Option<SiteId> {
        let index = if lowering.has_sites {
            u32::try_from(instruction.integer_metadata(lowering.site_kind)?).ok()?
        } else {
            self.counter += 1;
            self.counter - 1
        };
        let site = self.get(lowering, index);
        if lowering.program.sites[site].location.is_none() {
            let location = instruction.debug_location(lowering.module);
            lowering.program.sites[site].location = location.and_then(|node| lowering.location(node));
        }
        Some(site)
    }
}
