//! Objects: what memory is made of, and their content in pages.

use triomphe::Arc;

use super::page::{PAGE_BYTES, Page};
use super::tree::Tree;
use crate::explore::value::Bytes;
use crate::program::{BlockId, FunctionId, GlobalId, SiteId};

/// What an object is, and who made it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ObjectKind {
    Global(GlobalId),
    ThreadLocal {
        global: GlobalId,
        thread: u32,
    },
    Stack {
        thread: u32,
        site: SiteId,
    },
    Heap {
        thread: u32,
        site: Option<SiteId>,
    },
    /// Code: its address can be called, its bytes cannot be read.
    Function(FunctionId),
    /// A label whose address was taken.
    Block(FunctionId, BlockId),
    /// The machine's own (`errno`, `argv`, …).
    Internal(&'static str),
}

impl ObjectKind {
    /// Has an address but no bytes.
    pub fn is_code(self) -> bool {
        matches!(self, ObjectKind::Function(_) | ObjectKind::Block(..))
    }
}

/// What the bytes of a new object are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fill {
    Undef,
    Zero,
}

/// How an object ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Death {
    Freed,
    ScopeLeft,
    ThreadEnded,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum State {
    Alive,
    Dead(Death),
}

/// An object; after its death all but its content stays known.
#[derive(Clone)]
pub struct Object {
    pub base: u64,
    pub size: u64,
    pub align: u64,
    pub kind: ObjectKind,
    pub state: State,
    /// Written once, at start-up; a later write is a fault.
    pub read_only: bool,
    /// Another thread may know its address.
    pub escaped: bool,
    /// How many stack objects had this number and place before.
    pub generation: u32,
    pub(super) content: Content,
}

impl Object {
    pub fn is_alive(&self) -> bool {
        self.state == State::Alive
    }

    /// The address one past the last byte.
    pub fn end(&self) -> u64 {
        self.base + self.size
    }
}

/// The bytes of an object.
#[derive(Clone)]
pub(super) enum Content {
    /// Dead, or code.
    Nothing,
    /// At most one page.
    Small(Arc<Page>),
    /// Pages that were never written are absent and have the fill's content.
    Paged { fill: Fill, pages: Tree<Arc<Page>> },
}

impl Content {
    pub fn new(size: u64, fill: Fill) -> Content {
        if size > PAGE_BYTES {
            Content::Paged { fill, pages: Tree::new() }
        } else {
            Content::Small(Arc::new(new_page(size as usize, fill)))
        }
    }

    /// The page that holds `offset` and the position in it; `None` for a page never written.
    #[inline]
    pub fn page(&self, offset: u64) -> (Result<&Page, Fill>, usize) {
        match self {
            Content::Small(page) => (Ok(page), offset as usize),
            Content::Paged { fill, pages } => {
                let page = pages.get((offset / PAGE_BYTES) as usize).map(|page| &**page).ok_or(*fill);
                (page, (offset % PAGE_BYTES) as usize)
            }
            Content::Nothing => panic!("the content of a dead object is not read"),
        }
    }

    /// The page that holds `offset`, its own, and the position in it.
    #[inline]
    pub fn page_mut(&mut self, offset: u64) -> (&mut Page, usize) {
        match self {
            Content::Small(page) => (Arc::make_mut(page), offset as usize),
            Content::Paged { fill, pages } => {
                let slot = pages.slot((offset / PAGE_BYTES) as usize);
                let page = slot.get_or_insert_with(|| Arc::new(new_page(PAGE_BYTES as usize, *fill)));
                (Arc::make_mut(page), (offset % PAGE_BYTES) as usize)
            }
            Content::Nothing => panic!("the content of a dead object is not written"),
        }
    }

    /// Whether a range lies in one page.
    #[inline]
    pub fn in_one_page(&self, offset: u64, size: u64) -> bool {
        matches!(self, Content::Small(_)) || offset % PAGE_BYTES + size <= PAGE_BYTES
    }

    /// Cuts a range at page boundaries: (offset in the object, length).
    fn parts(&self, offset: u64, size: u64) -> impl Iterator<Item = (u64, u64)> + use<> {
        let page_bytes = if matches!(self, Content::Small(_)) { u64::MAX } else { PAGE_BYTES };
        let mut at = offset;
        std::iter::from_fn(move || {
            let length = (page_bytes - at % page_bytes).min(offset + size - at);
            let part = (at, length);
            at += length;
            (length > 0).then_some(part)
        })
    }

    pub fn read(&self, offset: u64, size: u64, pointer_bytes: u32) -> Bytes {
        let mut bytes =
            Bytes { data: Vec::with_capacity(size as usize), defined: Vec::with_capacity(size as usize), pointers: Vec::new() };
        for (at, length) in self.parts(offset, size) {
            match self.page(at) {
                (Ok(page), position) => page.read_into(position, length as usize, pointer_bytes, &mut bytes),
                (Err(fill), _) => {
                    bytes.data.resize(bytes.data.len() + length as usize, 0);
                    bytes.defined.resize(bytes.data.len(), fill == Fill::Zero);
                }
            }
        }
        bytes
    }

    pub fn write(&mut self, offset: u64, bytes: &Bytes, pointer_bytes: u32) {
        for (at, length) in self.parts(offset, bytes.len()) {
            let (page, position) = self.page_mut(at);
            page.write_from(position, bytes, (at - offset) as usize, length as usize, pointer_bytes);
        }
    }

    pub fn write_slice(&mut self, offset: u64, bytes: &[u8], pointer_bytes: u32) {
        for (at, length) in self.parts(offset, bytes.len() as u64) {
            let (page, position) = self.page_mut(at);
            let from = (at - offset) as usize;
            page.write_slice(position, &bytes[from..from + length as usize], pointer_bytes);
        }
    }

    /// Every byte of the range becomes `byte`, or undefined.
    pub fn fill(&mut self, offset: u64, size: u64, byte: Option<u8>, pointer_bytes: u32) {
        for (at, length) in self.parts(offset, size) {
            let (page, position) = self.page_mut(at);
            match byte {
                Some(byte) => page.fill(position, length as usize, byte, pointer_bytes),
                None => page.undefine(position, length as usize, pointer_bytes),
            }
        }
    }
}

fn new_page(size: usize, fill: Fill) -> Page {
    match fill {
        Fill::Undef => Page::undefined(size),
        Fill::Zero => Page::zero(size),
    }
}
