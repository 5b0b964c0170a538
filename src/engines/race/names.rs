//! Names for people: objects, locks and threads in the words of the source.

use rustc_hash::FxHashMap;

use super::record::Member;
use crate::facts::accesses::WHOLE;
use crate::facts::{AbstractObjectKind, Facts, Location, Offset, ThreadId, ThreadKind};
use crate::locks::{Family, Held, Place, Token};
use crate::program::describe::{describe_access, describe_address, describe_global_part, describe_type_part};
use crate::program::{FunctionId, Operand, Program, RegisterId, SiteId, Variable};
use crate::thread_pds::holding::Identity;

pub struct Names<'a, 'p> {
    program: &'a Program,
    facts: &'a Facts<'p>,
    threads: FxHashMap<ThreadId, String>,
}

impl<'a, 'p> Names<'a, 'p> {
    pub fn new(program: &'a Program, facts: &'a Facts<'p>) -> Names<'a, 'p> {
        let mut names = Names { program, facts, threads: FxHashMap::default() };
        let mut uses: FxHashMap<String, usize> = FxHashMap::default();
        let plain: Vec<(ThreadId, String)> =
            facts.threads.threads().map(|(thread, _)| (thread, names.plain_thread(thread))).collect();
        plain.iter().for_each(|(_, name)| *uses.entry(name.clone()).or_default() += 1);
        let mut numbers: FxHashMap<String, usize> = FxHashMap::default();
        for (thread, name) in plain {
            let unique = if uses[&name] == 1 {
                name
            } else {
                // Created at one place on several ways.
                let number = numbers.entry(name.clone()).or_default();
                *number += 1;
                format!("{name}#{number}")
            };
            names.threads.insert(thread, unique);
        }
        names
    }

    /// `main`, or `visitor@a.c:30`; unique in the program.
    pub fn thread(&self, thread: ThreadId) -> &str {
        &self.threads[&thread]
    }

    fn plain_thread(&self, thread: ThreadId) -> String {
        let known = self.facts.threads.thread(thread);
        let entry = known.entry.map(|entry| self.program.functions[entry].source_name.clone());
        match known.kind {
            ThreadKind::Anywhere => "any thread".to_owned(),
            ThreadKind::Handler => format!("{}, a signal handler", entry.unwrap_or_default()),
            ThreadKind::Main | ThreadKind::Library => entry.unwrap_or_else(|| "main".to_owned()),
            ThreadKind::Created => {
                let place = known.site().and_then(|site| self.program.place_of(site));
                let origin = place.map_or(String::new(), |place| format!("@{}:{}", base_name(&place.file), place.line));
                format!("{}{origin}", entry.unwrap_or_else(|| "<unknown>".to_owned()))
            }
        }
    }

    /// The source function a site stands in.
    pub fn function(&self, site: SiteId) -> String {
        match self.program.location_of(site) {
            Some(location) => location.function.clone(),
            None => self.program.functions[self.program.sites[site].function].source_name.clone(),
        }
    }

    /// The part of an object that an access touches, and the whole object's name.
    pub fn object(&self, location: Location, size: u64, member: &Member) -> (String, String) {
        let whole = self.whole(location);
        let expression = || {
            let operand = member.access.operand()?;
            match size < WHOLE {
                true => describe_access(self.program, member.position.function, operand, size),
                false => describe_address(self.program, member.position.function, operand),
            }
        };
        // A part of unknown size is named by where it begins.
        let size = if size < WHOLE { size } else { 1 };
        let exact = match location.offset {
            Offset::At(at) => Some(at),
            Offset::Class { .. } | Offset::Any => None,
        };
        let part = match (&self.facts.points_to.object(location.object).kind, exact) {
            (AbstractObjectKind::Global(global) | AbstractObjectKind::ThreadLocal(global), Some(at)) => {
                Some(describe_global_part(self.program, *global, at, size.min(self.program.globals[*global].size)))
            }
            (AbstractObjectKind::StackSlot { function, register, .. }, Some(at)) => match self.variable(*function, *register) {
                Some(Variable { name, ty: Some(ty), .. }) => {
                    Some(format!("{name}{}", describe_type_part(self.program, *ty, at, size)))
                }
                Some(Variable { name, .. }) => Some(name.clone()),
                None => expression(),
            },
            // An element that the site names with an index; or the object behind a pointer.
            _ => expression(),
        };
        (part.unwrap_or_else(|| whole.clone()), whole)
    }

    /// The whole object, by the name that runs give it.
    pub fn whole(&self, location: Location) -> String {
        match &self.facts.points_to.object(location.object).kind {
            AbstractObjectKind::Global(global) | AbstractObjectKind::ThreadLocal(global) => {
                self.program.globals[*global].source_name.clone()
            }
            AbstractObjectKind::StackSlot { function, register, site, .. } => match self.variable(*function, *register) {
                Some(variable) => variable.name.clone(),
                None => format!("a local{}", self.at(*site)),
            },
            AbstractObjectKind::Heap { site, .. } => format!("memory allocated{}", self.at(*site)),
            AbstractObjectKind::ByValueCopy { function, .. } | AbstractObjectKind::VariadicArea(function) => {
                format!("an argument of {}", self.program.functions[*function].source_name)
            }
            AbstractObjectKind::Function(_) | AbstractObjectKind::Label(..) => "code".to_owned(),
            AbstractObjectKind::Library(function) => format!("memory of {}", self.program.functions[*function].source_name),
            AbstractObjectKind::Arguments => "argv".to_owned(),
            AbstractObjectKind::Texts => "a text".to_owned(),
            AbstractObjectKind::Key(_) => "thread-specific data".to_owned(),
            AbstractObjectKind::Unknown | AbstractObjectKind::Residue | AbstractObjectKind::Transfer(_) => {
                "memory of unknown origin".to_owned()
            }
        }
    }

    fn variable(&self, function: FunctionId, register: RegisterId) -> Option<&'a Variable> {
        let bindings = &self.program.functions[function].bindings;
        let binding = bindings.iter().find(|binding| binding.is_address && binding.value == Operand::Register(register))?;
        Some(&self.program.variables[binding.variable])
    }

    pub fn at(&self, site: SiteId) -> String {
        self.program.place_of(site).map_or(String::new(), |place| format!(" at {}:{}", base_name(&place.file), place.line))
    }

    /// `a.c:30`.
    pub fn line(&self, site: SiteId) -> Option<String> {
        self.program.place_of(site).map(|place| format!("{}:{}", base_name(&place.file), place.line))
    }

    /// A thing that is held, if people would call it a lock.
    pub fn held(&self, identity: &Identity<'_, '_>, held: &Held) -> Option<String> {
        match held.token {
            Token::Lock => Some(match held.names.place {
                Some(place) => self.place(identity, place, held.family),
                None => self.family(identity, held.family),
            }),
            Token::AtomicSection => Some("an atomic section".to_owned()),
            Token::InsideOnce
            | Token::OnceDone
            | Token::OwnArgument
            | Token::Acquired
            | Token::Permit
            | Token::Unsent
            | Token::Handed => None,
        }
    }

    /// A lock or a control by its place.
    pub fn place(&self, identity: &Identity<'_, '_>, place: Place, family: Family) -> String {
        let Some(location) = identity.location(place) else { return "an atomic section".to_owned() };
        if let (AbstractObjectKind::Global(global), Offset::At(at)) =
            (&self.facts.points_to.object(location.object).kind, location.offset)
        {
            return without_insides(describe_global_part(self.program, *global, at, 1));
        }
        if identity.locations(family) == [location]
            && let Some((function, operand)) = identity.spelling(family)
            && let Some(name) = describe_address(self.program, function, operand)
        {
            return without_insides(name);
        }
        self.whole(location)
    }

    /// A lock as an operand spells it.
    pub fn spelled(&self, function: FunctionId, operand: Operand) -> Option<String> {
        describe_address(self.program, function, operand).map(without_insides)
    }

    /// A lock by the first expression for it.
    pub fn family(&self, identity: &Identity<'_, '_>, family: Family) -> String {
        let spelling =
            identity.spelling(family).and_then(|(function, operand)| describe_address(self.program, function, operand));
        spelling.map_or_else(|| "a lock".to_owned(), without_insides)
    }
}

/// `lock` for `lock.__data.__lock`: names that begin with two underscores are the implementation's own.
fn without_insides(name: String) -> String {
    let end = name.find(".__").or_else(|| name.find("->__"));
    end.map_or(name.clone(), |end| name[..end].to_owned())
}

fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
