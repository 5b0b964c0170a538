//! C functions whose way with addresses their effects do not tell: they copy memory, or return and store addresses inside their arguments.

use super::call::Call;
use super::constraint::Constraint;
use super::form::Form;
use super::graph::NodeId;
use super::location::Class;
use super::object::{AbstractObject, AbstractObjectKind};
use super::solve::Solver;
use crate::models::Builtin;
use crate::program::{FunctionId, Type};

impl Solver<'_> {
    /// Whether it says what is returned.
    pub fn builtin(&mut self, call: &Call, callee: FunctionId, builtin: Builtin) -> bool {
        match builtin {
            Builtin::Memcpy | Builtin::Memmove => self.copy(call.argument(0), call.argument(1), call.constant(2)),
            Builtin::Bcopy => self.copy(call.argument(1), call.argument(0), call.constant(2)),
            Builtin::Mempcpy => {
                self.copy(call.argument(0), call.argument(1), call.constant(2));
                return self.returns_inside(call, 0);
            }
            Builtin::Memccpy => {
                self.copy(call.argument(0), call.argument(1), call.constant(3));
                return self.returns_inside(call, 0);
            }
            Builtin::Strcpy | Builtin::Strncpy | Builtin::Strlcpy => self.copy(call.argument(0), call.argument(1), None),
            Builtin::Stpcpy | Builtin::Stpncpy => {
                self.copy(call.argument(0), call.argument(1), None);
                return self.returns_inside(call, 0);
            }
            Builtin::Strcat | Builtin::Strncat | Builtin::Strlcat => {
                let end = call.argument(0).map(|target| self.anywhere(target));
                self.copy(end, call.argument(1), None);
            }
            Builtin::Memchr
            | Builtin::Rawmemchr
            | Builtin::Memrchr
            | Builtin::Memmem
            | Builtin::Strchr
            | Builtin::Strrchr
            | Builtin::Strchrnul
            | Builtin::Strstr
            | Builtin::Strcasestr
            | Builtin::Strpbrk
            | Builtin::Fgets
            | Builtin::FgetsChk => return self.returns_inside(call, 0),
            Builtin::Bsearch => return self.returns_inside(call, 1),
            Builtin::Strtok => {
                let state = self.library_memory(callee);
                if let Some(text) = call.argument(0) {
                    let inside = self.anywhere(text);
                    self.store(Some(state), Some(inside), self.pointer_bytes);
                }
                if let Some((result, _)) = call.result {
                    self.attach(state, Constraint::Load { to: result, form: Form::of(self.pointer_bytes) });
                }
                return true;
            }
            Builtin::StrtokR | Builtin::Strsep => {
                let place = if builtin == Builtin::StrtokR { call.argument(2) } else { call.argument(0) };
                if let Some(place) = place {
                    let kept = self.graph.node();
                    self.attach(place, Constraint::Load { to: kept, form: Form::of(self.pointer_bytes) });
                    let inside = self.anywhere(kept);
                    if builtin == Builtin::StrtokR
                        && let Some(text) = call.argument(0)
                    {
                        self.graph.add_edge(text, kept);
                    }
                    self.store(Some(place), Some(inside), self.pointer_bytes);
                    if let Some((result, _)) = call.result {
                        self.graph.add_edge(inside, result);
                    }
                }
                return true;
            }
            Builtin::Strtol
            | Builtin::Strtoul
            | Builtin::Strtoll
            | Builtin::Strtoull
            | Builtin::Strtod
            | Builtin::Strtof
            | Builtin::Strtold => {
                if let Some(text) = call.argument(0) {
                    let inside = self.anywhere(text);
                    self.store(call.argument(1), Some(inside), self.pointer_bytes);
                }
            }
            Builtin::Qsort | Builtin::QsortR => {
                if let Some(array) = call.argument(0) {
                    let stride = call.constant(2).filter(|size| *size > 0).unwrap_or(1);
                    let elements = self.walked(array, stride);
                    // Any element may come to stand where another stood.
                    self.copy_as(Some(elements), Some(array), None, true);
                }
            }
            Builtin::StrerrorR => {
                self.returns_library_memory(call, callee);
                return self.returns_inside(call, 1);
            }
            // Whatever else returns a pointer returns the library's own memory; numbers concern nobody here.
            _ => {
                return self.program.functions[callee].return_type == Type::POINTER && self.has_own_memory(call, callee, builtin);
            }
        }
        false
    }

    fn has_own_memory(&mut self, call: &Call, callee: FunctionId, builtin: Builtin) -> bool {
        let is_own = matches!(
            builtin,
            Builtin::Strerror
                | Builtin::Strsignal
                | Builtin::CtypeBLoc
                | Builtin::CtypeTolowerLoc
                | Builtin::CtypeToupperLoc
                | Builtin::Getenv
                | Builtin::Setlocale
                | Builtin::ErrnoLocation
        );
        if is_own {
            self.returns_library_memory(call, callee);
        }
        if matches!(builtin, Builtin::ErrnoLocation | Builtin::CtypeBLoc | Builtin::CtypeTolowerLoc | Builtin::CtypeToupperLoc) {
            let object = self.object(AbstractObject::new(AbstractObjectKind::Library(callee)));
            self.memories[object.index()].is_of_thread = true;
        }
        is_own
    }

    fn returns_inside(&mut self, call: &Call, position: usize) -> bool {
        if let (Some(argument), Some((result, _))) = (call.argument(position), call.result) {
            let inside = self.anywhere(argument);
            self.graph.add_edge(inside, result);
        }
        true
    }

    /// Memory that belongs to the function and leads nowhere but to itself.
    pub fn library_memory(&mut self, callee: FunctionId) -> NodeId {
        let memory = self.holder(AbstractObject::new(AbstractObjectKind::Library(callee)), Class::ANY);
        self.store(Some(memory), Some(memory), self.pointer_bytes);
        memory
    }

    pub fn returns_library_memory(&mut self, call: &Call, callee: FunctionId) {
        let memory = self.library_memory(callee);
        if let Some((result, _)) = call.result {
            self.graph.add_edge(memory, result);
        }
    }
}
