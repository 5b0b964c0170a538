//! What builtins touch beyond the effects of their models: arguments of formats, lists of arguments, strings that are kept.

use super::format::{self, Use};
use super::instruction::{Collector, LibraryCall, plain};
use super::{Action, Manner, MemoryAccess, Place};
use crate::facts::points_to::{AbstractObjectKind, Offset};
use crate::models::Builtin;
use crate::program::{Constant, FunctionId, GlobalId, Operand, Scalar, Type};

/// The bytes of the largest number of characters that `%n` stores.
const LARGEST_COUNT: u64 = 8;

/// A function of the `printf` or `scanf` family: where its format stands, and how its arguments come.
#[derive(Clone, Copy)]
struct Family {
    template: usize,
    is_input: bool,
    is_list: bool,
    /// A buffer that is written, and the argument that bounds it.
    buffer: Option<(usize, Option<usize>)>,
    /// A string that is read.
    text: Option<usize>,
}

fn family(builtin: Builtin) -> Option<Family> {
    let print = |template, buffer| Family { template, is_input: false, is_list: false, buffer, text: None };
    let list = |family: Family| Family { is_list: true, ..family };
    let scan = |template, text| Family { template, is_input: true, is_list: false, buffer: None, text };
    Some(match builtin {
        Builtin::Printf => print(0, None),
        Builtin::Fprintf | Builtin::Dprintf | Builtin::PrintfChk => print(1, None),
        Builtin::FprintfChk | Builtin::DprintfChk => print(2, None),
        Builtin::Sprintf => print(1, Some((0, None))),
        Builtin::SprintfChk => print(3, Some((0, None))),
        Builtin::Snprintf => print(2, Some((0, Some(1)))),
        Builtin::SnprintfChk => print(4, Some((0, Some(1)))),
        // Where the new string's address goes is an effect of the model.
        Builtin::Asprintf => print(1, None),
        Builtin::AsprintfChk => print(2, None),
        Builtin::Vprintf => list(print(0, None)),
        Builtin::Vfprintf | Builtin::Vdprintf | Builtin::VprintfChk => list(print(1, None)),
        Builtin::VfprintfChk | Builtin::VdprintfChk => list(print(2, None)),
        Builtin::Vsprintf => list(print(1, Some((0, None)))),
        Builtin::VsprintfChk => list(print(3, Some((0, None)))),
        Builtin::Vsnprintf => list(print(2, Some((0, Some(1))))),
        Builtin::VsnprintfChk => list(print(4, Some((0, Some(1))))),
        Builtin::Vasprintf => list(print(1, None)),
        Builtin::VasprintfChk => list(print(2, None)),
        Builtin::Scanf => scan(0, None),
        Builtin::Fscanf => scan(1, None),
        Builtin::Sscanf => scan(1, Some(0)),
        Builtin::Vscanf => list(scan(0, None)),
        Builtin::Vfscanf => list(scan(1, None)),
        Builtin::Vsscanf => list(scan(1, Some(0))),
        _ => return None,
    })
}

impl Collector<'_> {
    /// Whether the builtin is one with a format: then these are all ranges it reads and writes.
    pub fn formatted(&self, call: LibraryCall<'_>, builtin: Builtin, found: &mut Vec<MemoryAccess>) -> bool {
        let Some(family) = family(builtin) else { return false };
        let pointer_bytes = u64::from(self.program.layout.pointer_bytes);
        let Some(template) = call.argument(family.template) else { return true };
        found.push(plain(template, None, Action::Read));
        if let Some(text) = family.text.and_then(|position| call.argument(position)) {
            found.push(plain(text, None, Action::Read));
        }
        if let Some((buffer, bound)) = family.buffer
            && let Some(buffer) = call.argument(buffer)
        {
            let size = bound.and_then(|position| call.argument(position)).and_then(|bound| self.constant(bound));
            found.push(plain(buffer, size, Action::Write));
        }
        // One list of uses for each text that the format may be.
        let uses = self.constant_texts(call.function, template).and_then(|texts| {
            let uses = texts.into_iter().map(|text| match family.is_input {
                true => format::scanned(text, pointer_bytes),
                false => format::printed(text, pointer_bytes),
            });
            uses.collect::<Option<Vec<Vec<Use>>>>()
        });
        if family.is_list {
            self.add_list(call, family, uses.as_ref().map(|uses| uses.concat()).as_deref(), found);
            return true;
        }
        let given = call.arguments.get(family.template + 1..).unwrap_or_default();
        for (position, argument) in given.iter().enumerate() {
            let place = Place::Operand(argument.value);
            match &uses {
                Some(uses) => {
                    let mut here: Vec<Use> = uses.iter().filter_map(|uses| uses.get(position)).copied().collect();
                    here.sort_unstable();
                    here.dedup();
                    here.into_iter().for_each(|one| add(place, one, found));
                }
                None if self.is_pointer(call.function, argument.value) => {
                    if !family.is_input {
                        add(place, Use::Reads, found);
                    }
                    add(place, Use::Writes(written(family.is_input)), found);
                }
                None => {}
            }
        }
        true
    }

    /// The list moves on, and behind the arguments that callers gave lies what the format says.
    fn add_list(&self, call: LibraryCall<'_>, family: Family, uses: Option<&[Use]>, found: &mut Vec<MemoryAccess>) {
        let Some(list) = call.argument(family.template + 1) else { return };
        if self.program.layout.pointer_bytes == 8 {
            found.push(plain(list, Some(self.list_bytes()), Action::Read));
            found.push(plain(list, Some(self.list_bytes()), Action::Write));
        }
        // A list may have been walked through in part, so that positions are not known.
        let is_used = |uses: &[Use]| uses.iter().any(|one| *one != Use::Nothing);
        if uses.is_some_and(|uses| !is_used(uses)) {
            return;
        }
        let writes = uses.is_none_or(|uses| uses.iter().any(|one| matches!(one, Use::Writes(_))));
        let reads = !family.is_input && uses.is_none_or(|uses| uses.contains(&Use::Reads));
        for (owner, operand) in self.list_arguments(call.function, list) {
            if self.is_pointer(owner, operand) && !self.is_nothing(operand) {
                let place = Place::Foreign(owner, operand);
                if reads {
                    add(place, Use::Reads, found);
                }
                if writes {
                    add(place, Use::Writes(written(family.is_input)), found);
                }
            }
        }
    }

    /// The variadic arguments that a list may hold.
    fn list_arguments(&self, function: FunctionId, list: Operand) -> Vec<(FunctionId, Operand)> {
        let mut owners: Vec<FunctionId> = Vec::new();
        for location in self.points_to.pointees(function, list) {
            if let AbstractObjectKind::VariadicArea(owner) = self.points_to.object(location.object).kind {
                owners.push(owner);
            }
            let started = self.lists.iter().filter(|(_, objects)| self.copies_lists || objects.contains(&location.object));
            owners.extend(started.map(|(owner, _)| *owner));
        }
        owners.sort_unstable();
        owners.dedup();
        owners.iter().filter_map(|owner| self.variadic_arguments.get(owner)).flatten().copied().collect()
    }

    pub fn builtin(&self, call: LibraryCall<'_>, builtin: Builtin, found: &mut Vec<MemoryAccess>) {
        match builtin {
            Builtin::Strtok => {
                for (owner, operand) in &self.kept_strings {
                    if !self.is_nothing(*operand) {
                        read_and_written(Place::Foreign(*owner, *operand), found);
                    }
                }
            }
            // The rest of the string is kept where the third argument points, and is part of what is returned.
            Builtin::StrtokR | Builtin::Strsep => {
                let place = if builtin == Builtin::StrtokR { call.argument(2) } else { call.argument(0) };
                let kept = call.result.map(Place::Operand).or_else(|| place.map(Place::Behind));
                kept.into_iter().for_each(|kept| read_and_written(kept, found));
            }
            Builtin::Getline | Builtin::Getdelim => {
                if let Some(place) = call.argument(0) {
                    let buffer = Place::Behind(place);
                    add(buffer, Use::Writes(None), found);
                    found.push(MemoryAccess {
                        place: buffer,
                        size: None,
                        action: Action::End,
                        manner: Manner::Plain,
                        is_volatile: false,
                        alias: None,
                    });
                }
            }
            _ => {}
        }
    }

    /// The strings, all of them without change, that an operand may be; `None` if it may be something else.
    fn constant_texts(&self, function: FunctionId, operand: Operand) -> Option<Vec<&[u8]>> {
        if let Operand::Constant(constant) = operand {
            let Constant::Global(global) = self.program.constants[constant] else { return None };
            return Some(vec![self.constant_text(global, 0)?]);
        }
        let mut texts: Vec<&[u8]> = Vec::new();
        for location in self.points_to.pointees(function, operand) {
            if self.points_to.object(location.object).kind == AbstractObjectKind::Texts {
                // As a format none of them reads or writes anything.
                texts.push(&[]);
                continue;
            }
            let AbstractObjectKind::Global(global) = self.points_to.object(location.object).kind else { return None };
            match location.offset {
                Offset::At(at) => texts.push(self.constant_text(global, at)?),
                // From wherever one begins to read, the next directive is one of those that begin here.
                Offset::Class { .. } | Offset::Any => texts.extend(directives(self.constant_text(global, 0)?)),
            }
        }
        (!texts.is_empty()).then_some(texts)
    }

    /// The bytes of a string that never changes, without its final 0.
    fn constant_text(&self, global: GlobalId, at: u64) -> Option<&[u8]> {
        let global = &self.program.globals[global];
        let is_known = global.is_constant && !global.is_external && global.relocations.is_empty();
        let bytes = global.bytes.get(usize::try_from(at).ok()?..)?;
        let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
        is_known.then(|| &bytes[..end])
    }

    fn is_pointer(&self, function: FunctionId, operand: Operand) -> bool {
        self.program.type_of(&self.program.functions[function], operand) == Type::Scalar(Scalar::Pointer)
    }
}

/// The text from each of its directives on, and its end.
fn directives(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let begins = (0..text.len()).filter(|at| text[*at] == b'%');
    begins.map(|at| &text[at..]).chain([&text[text.len()..]])
}

fn add(place: Place, made: Use, found: &mut Vec<MemoryAccess>) {
    let access = |size, action| MemoryAccess { place, size, action, manner: Manner::Plain, is_volatile: false, alias: None };
    match made {
        Use::Nothing => {}
        Use::Reads => found.push(access(None, Action::Read)),
        Use::Writes(size) => found.push(access(size, Action::Write)),
    }
}

fn read_and_written(place: Place, found: &mut Vec<MemoryAccess>) {
    add(place, Use::Reads, found);
    add(place, Use::Writes(None), found);
}

/// Of what the format is not known: output stores no more than a number (`%jn`), input any text.
fn written(is_input: bool) -> Option<u64> {
    (!is_input).then_some(LARGEST_COUNT)
}
