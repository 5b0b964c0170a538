//! Kept: which addresses does memory of a thread's own hold?
//!
//! # Definition   A *cell* is where some instruction may write an address into an object that is *followed*: a thread has made it (the list of a call's arguments, too), or it is a
//!                thread's part (`parts`), and code outside the program does not know it. A cell has the objects whose addresses it may hold though the owner of the cell's object has not made them.
//! # Theorem      If a thread writes through an address of its own making what it has made, then the cell holds what the owner of the cell has made. If every write to a cell
//!                is such a one, so is what the owner finds there. Any other write, whatever it writes, counts for all that it may write.
//! # Deviations   Copies of memory count for all cells of their source. An object with many cells has one.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use typed_index_collections::TiVec;

use super::super::accesses::{Accesses, Action, Manner, WHOLE, library_model};
use super::super::call_graph::CallGraph;
use super::super::loops::constant;
use super::super::points_to::{AbstractObjectId, AbstractObjectKind, Location, Offset};
use super::foreign::Foreign;
use super::origins::callees;
use super::solve::Ground;
use crate::models::{AllocationResult, Builtin, Effect};
use crate::program::{AliasTypeId, FunctionId, Instruction, Operand, Operation, RegisterId};

/// More cells of an object are one.
const MOST_CELLS: usize = 256;
/// A load of more locations is not looked at.
const MOST_LOCATIONS: usize = 64;

/// The cells of an object that something touches.
pub(super) type Touched = Vec<(AbstractObjectId, SmallVec<[u32; 2]>)>;

/// So many bytes at a location, and as which type they are accessed: what was written as another type is not read there (C17 6.5p7).
pub(super) type Place = (Location, u64, Option<AliasTypeId>);

/// What a write puts where it writes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Written {
    Value(Operand),
    /// What lies behind a pointer.
    Copy(Operand),
    /// Whatever points-to has for the place.
    Anything,
}

/// How a write reaches where it writes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Through {
    /// So many bytes are written there.
    Address(Operand, Option<u64>),
    /// What the writing thread makes with it: the arguments of a call.
    Own,
    Unknown,
}

pub(super) struct Write {
    pub through: Through,
    pub written: Written,
    pub to: Touched,
}

pub(super) struct Load {
    pub result: RegisterId,
    pub address: Operand,
    pub size: u64,
    /// `None`: it may read what is not followed.
    pub from: Option<Touched>,
}

/// What a function does with cells.
#[derive(Default)]
pub(super) struct Uses {
    pub writes: Vec<Write>,
    pub loads: Vec<Load>,
}

pub(super) struct Cell {
    pub place: Place,
    pub foreign: Foreign,
    /// The functions that look at it.
    pub readers: Vec<FunctionId>,
}

#[derive(Default)]
pub(super) struct Cells {
    pub all: Vec<Cell>,
    by_object: FxHashMap<AbstractObjectId, Vec<u32>>,
}

/// A write, and the places that it may touch.
struct Found {
    through: Through,
    written: Written,
    places: Vec<Place>,
}

impl Cells {
    /// All cells of a program, and what its functions do with them.
    pub fn of(ground: &Ground<'_>, accesses: &Accesses, calls: &CallGraph) -> (Cells, TiVec<FunctionId, Uses>) {
        let found: TiVec<FunctionId, Vec<Found>> =
            ground.program.functions.keys().map(|id| writes(ground, (accesses, calls), id)).collect();
        let mut cells = Cells::default();
        let places = found.iter().flatten().flat_map(|found| &found.places);
        let mut by_object: FxHashMap<AbstractObjectId, Vec<Place>> = FxHashMap::default();
        for place in places.filter(|place| ground.is_followed(place.0.object)) {
            by_object.entry(place.0.object).or_default().push(*place);
        }
        let mut by_object: Vec<_> = by_object.into_iter().collect();
        by_object.sort_unstable_by_key(|(object, _)| *object);
        for (object, mut places) in by_object {
            places.sort_unstable();
            places.dedup();
            if places.len() > MOST_CELLS {
                places = vec![(Location { object, offset: Offset::Any }, WHOLE, None)];
            }
            for place in places {
                cells.by_object.entry(object).or_default().push(cells.all.len() as u32);
                cells.all.push(Cell { place, foreign: Foreign::default(), readers: Vec::new() });
            }
        }
        let mut uses: TiVec<FunctionId, Uses> = TiVec::default();
        for (id, found) in found.into_iter_enumerated() {
            let write = |found: Found| Write {
                through: found.through,
                written: found.written,
                to: cells.touched(ground, found.places.iter().copied()),
            };
            let writes: Vec<Write> = found.into_iter().map(write).filter(|write| !write.to.is_empty()).collect();
            for write in &writes {
                if let Written::Copy(source) = write.written
                    && !ground.points_to.is_of_horde(id, source)
                {
                    let objects: Vec<AbstractObjectId> =
                        ground.points_to.pointees(id, source).map(|location| location.object).collect();
                    objects.into_iter().for_each(|object| cells.watch_object(object, id));
                }
            }
            let loads = cells.loads(ground, id);
            uses.push(Uses { writes, loads });
        }
        cells.all.iter_mut().for_each(|cell| cell.readers.dedup());
        (cells, uses)
    }

    /// The cells of an object.
    pub fn of_object(&self, object: AbstractObjectId) -> &[u32] {
        self.by_object.get(&object).map_or(&[], Vec::as_slice)
    }

    fn watch_object(&mut self, object: AbstractObjectId, reader: FunctionId) {
        for cell in self.by_object.get(&object).into_iter().flatten() {
            self.all[*cell as usize].readers.push(reader);
        }
    }

    /// The cells that so many bytes at some places may meet, of objects that are followed; an object without cells has none.
    fn touched(&self, ground: &Ground<'_>, places: impl Iterator<Item = Place>) -> Touched {
        let mut touched: Touched = Vec::new();
        for (location, size, alias) in places.filter(|place| ground.is_followed(place.0.object)) {
            let cells = self.of_object(location.object).iter().copied().filter(|cell| {
                let (place, width, written_as) = self.all[*cell as usize].place;
                ground.program.may_touch(alias, written_as) && ground.points_to.may_alias(location, size, place, width)
            });
            match touched.iter_mut().find(|(object, _)| *object == location.object) {
                Some((_, known)) => known.extend(cells),
                None => touched.push((location.object, cells.collect())),
            }
        }
        for (_, cells) in &mut touched {
            cells.sort_unstable();
            cells.dedup();
        }
        touched
    }

    fn loads(&mut self, ground: &Ground<'_>, id: FunctionId) -> Vec<Load> {
        if !ground.is_body(id) {
            return Vec::new();
        }
        let function = &ground.program.functions[id];
        let mut loads = Vec::new();
        for instruction in function.blocks.iter().flat_map(|block| &block.instructions) {
            let (Operation::Load { address, access }, Some(result)) = (&instruction.operation, instruction.result) else {
                continue;
            };
            if ground.held(id, Operand::Register(result)).is_empty() {
                continue;
            }
            let size = ground.program.layout.store_bytes(function.registers[result].ty);
            let places: Vec<Location> = ground.points_to.pointees(id, *address).take(MOST_LOCATIONS + 1).collect();
            let is_known = places.len() <= MOST_LOCATIONS && places.iter().all(|place| ground.is_followed(place.object));
            let from = is_known.then(|| self.touched(ground, places.iter().map(|place| (*place, size, access.alias))));
            for cell in from.iter().flatten().flat_map(|(_, cells)| cells) {
                self.all[*cell as usize].readers.push(id);
            }
            loads.push(Load { result, address: *address, size, from });
        }
        loads
    }
}

/// The writes of a function that may put an address somewhere.
fn writes(ground: &Ground<'_>, (accesses, calls): (&Accesses, &CallGraph), id: FunctionId) -> Vec<Found> {
    let mut found = Vec::new();
    if !ground.is_body(id) {
        return found;
    }
    let function = &ground.program.functions[id];
    let layout = &ground.program.layout;
    let places = |operand: Operand, size: Option<u64>, alias: Option<AliasTypeId>| {
        // What very many pointers may point to is not followed.
        let places = ground.points_to.pointees(id, operand).take_while(|_| !ground.points_to.is_of_horde(id, operand));
        let places = places.filter(|place| ground.is_followed(place.object));
        places.map(|place| (place, size.unwrap_or(WHOLE), alias)).collect::<Vec<Place>>()
    };
    let number = |operand: Operand| constant(ground.program, operand).and_then(|size| u64::try_from(size).ok());
    for (block, content) in function.blocks.iter_enumerated() {
        for (index, instruction) in content.instructions.iter().enumerate() {
            match &instruction.operation {
                Operation::Store { address, value, access } => {
                    if !ground.held(id, *value).is_empty() {
                        let size = Some(layout.store_bytes(ground.program.type_of(function, *value)));
                        let (written, places) = (Written::Value(*value), places(*address, size, access.alias));
                        found.push(Found { through: Through::Address(*address, size), written, places });
                    }
                }
                // Bytes that are all the same are no address.
                Operation::SetMemory { .. } => {}
                Operation::CopyMemory { destination, source, size, .. } => {
                    let size = number(*size);
                    let (written, places) = (Written::Copy(*source), places(*destination, size, None));
                    found.push(Found { through: Through::Address(*destination, size), written, places });
                }
                Operation::InlineAssembly { arguments, .. } => {
                    for argument in arguments {
                        let places = places(*argument, None, None).into_iter();
                        let whole = |place: Place| (Location { offset: Offset::Any, ..place.0 }, WHOLE, None);
                        let places = places.map(whole).collect();
                        found.push(Found { through: Through::Unknown, written: Written::Anything, places });
                    }
                }
                _ => {
                    found.extend(listed(ground, instruction));
                    if let Some((destination, source)) = copied(ground, instruction) {
                        let (written, places) = (Written::Copy(source), places(destination, None, None));
                        found.push(Found { through: Through::Address(destination, None), written, places });
                        continue;
                    }
                    if !writes_addresses(ground, instruction) {
                        continue;
                    }
                    for access in accesses.at(id, block, index) {
                        let is_write = matches!(access.action, Action::Write | Action::Update);
                        if is_write && matches!(access.manner, Manner::Plain | Manner::Atomic(_)) {
                            let size = access.size.unwrap_or(WHOLE);
                            let places = access.locations(ground.points_to, calls, layout, id).into_iter();
                            let places = places.map(|place| (place, size, access.alias)).collect();
                            found.push(Found { through: Through::Unknown, written: Written::Anything, places });
                        }
                    }
                }
            }
        }
    }
    found
}

/// What a call puts into the lists of arguments of the functions that it calls.
fn listed(ground: &Ground<'_>, instruction: &Instruction) -> Vec<Found> {
    let Operation::Call { arguments, .. } = &instruction.operation else { return Vec::new() };
    let mut found = Vec::new();
    for callee in callees(ground.points_to, instruction) {
        let area = ground.points_to.object_of_kind(&AbstractObjectKind::VariadicArea(callee));
        let Some(object) = area.filter(|object| ground.is_followed(*object)) else { continue };
        for argument in arguments.iter().skip(ground.program.functions[callee].parameters.len()) {
            let written =
                if argument.by_value.is_some() { Written::Copy(argument.value) } else { Written::Value(argument.value) };
            let places = vec![(Location { object, offset: Offset::Any }, WHOLE, None)];
            found.push(Found { through: Through::Own, written, places });
        }
    }
    found
}

/// Where a library function copies memory to, with the addresses in it, and where from.
fn copied(ground: &Ground<'_>, instruction: &Instruction) -> Option<(Operand, Operand)> {
    let Operation::Call { arguments, .. } = &instruction.operation else { return None };
    let mut callees = callees(ground.points_to, instruction);
    let (Some(callee), None) = (callees.next(), callees.next()) else { return None };
    let argument = |position: usize| arguments.get(position).map(|argument| argument.value);
    match library_model(ground.program, ground.models, callee)?.builtin? {
        Builtin::Memcpy | Builtin::Memmove | Builtin::Mempcpy => Some((argument(0)?, argument(1)?)),
        Builtin::Realloc | Builtin::Reallocarray => Some((Operand::Register(instruction.result?), argument(0)?)),
        // From one element to another.
        Builtin::Qsort | Builtin::QsortR => Some((argument(0)?, argument(0)?)),
        _ => None,
    }
}

/// Whether what an instruction writes may be an address; a library function writes one only where points-to has one as well.
fn writes_addresses(ground: &Ground<'_>, instruction: &Instruction) -> bool {
    let Operation::Call { .. } = &instruction.operation else { return true };
    let models = callees(ground.points_to, instruction).filter_map(|callee| library_model(ground.program, ground.models, callee));
    models.into_iter().any(|model| model.builtin.is_some_and(moves_addresses) || model.effects.iter().any(stores_address))
}

fn stores_address(effect: &Effect) -> bool {
    matches!(
        effect,
        Effect::Join { value: Some(_), .. }
            | Effect::InstallHandler { .. }
            | Effect::Allocate { result: AllocationResult::StoredAt(_), .. }
            | Effect::Allocate { is_linked: true, .. }
            | Effect::Reallocate { .. }
            | Effect::Atomic(_)
            | Effect::Unmodelled { .. }
    )
}

fn moves_addresses(builtin: Builtin) -> bool {
    matches!(
        builtin,
        Builtin::Memcpy
            | Builtin::Memmove
            | Builtin::Mempcpy
            | Builtin::Memccpy
            | Builtin::Bcopy
            | Builtin::Strcpy
            | Builtin::Strncpy
            | Builtin::Strlcpy
            | Builtin::Stpcpy
            | Builtin::Stpncpy
            | Builtin::Strcat
            | Builtin::Strncat
            | Builtin::Strlcat
            | Builtin::StrtokR
            | Builtin::Strsep
            | Builtin::Strtol
            | Builtin::Strtoul
            | Builtin::Strtoll
            | Builtin::Strtoull
            | Builtin::Strtod
            | Builtin::Strtof
            | Builtin::Strtold
            | Builtin::Realloc
            | Builtin::Reallocarray
    )
}
