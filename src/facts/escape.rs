//! Escape: which objects may more than one thread reach, and which stay with the thread that made them?
//!
//! # Definition   The *maker* of a run-time object is the thread that allocated it, or whose instance of a thread-local it is; a global has
//!                none. An abstract object is shared if it is a global that is not thread-local, memory of the library or of code outside the
//!                program, or if its address may be stored in a shared object, or handed to another thread otherwise: as the argument
//!                of a new thread or of a routine that runs at exit, as a thread's result, to code outside, or in a number that is used as an address. The least such set.
//! # Theorem      Every run-time object that a thread other than its maker touches belongs to a shared abstract object.
//!                Take the first touch in a run that breaks this: thread t touches o, made by u ≠ t. Registers belong to one thread, so
//!                on its way from u's registers into t's the address of o passed from one thread to another: by a handing-over, which
//!                makes o shared; or through memory, stored by one thread into an object o′ and loaded by another. If o′ is a global, it is
//!                shared; else one of the two is not its maker and touched it earlier, so that o′ belongs to a shared abstract object.
//!                Points-to has what is stored: o is in the contents of o′, and shared.
//! # Deviations   1. An object is shared as a whole, and from the beginning: that it was not yet handed over is for others to say
//!                (freshness).  2. A key of thread-specific data leads nowhere: what one thread keeps under it no other thread gets.
//!                3. An address that leaves as text, or through a file, is lost, as it is for points-to.

use super::points_to::{AbstractObjectId, AbstractObjectKind, PointsTo};

/// The objects that more than one thread may reach.
#[derive(Clone, Debug)]
pub struct Escape {
    /// By object.
    is_shared: Vec<bool>,
}

impl Escape {
    pub fn of(points_to: &PointsTo) -> Escape {
        let roots = points_to.objects().map(|(object, _)| object).filter(|object| is_root(points_to, *object));
        let handed_over = points_to.handed_over().map(|location| location.object);
        let leads_on = |object| !matches!(points_to.object(object).kind, AbstractObjectKind::Key(_));
        Escape { is_shared: points_to.reached_from(roots.chain(handed_over).chain(points_to.computed()), leads_on) }
    }

    /// Whether a thread other than its maker may reach an instance of the object.
    pub fn is_shared(&self, object: AbstractObjectId) -> bool {
        self.is_shared[object.index()]
    }

    /// How many objects are shared.
    pub fn count(&self) -> usize {
        self.is_shared.iter().filter(|shared| **shared).count()
    }
}

/// Whether every thread can reach the object by its name, or through code outside the program.
fn is_root(points_to: &PointsTo, object: AbstractObjectId) -> bool {
    match points_to.object(object).kind {
        AbstractObjectKind::Unknown
        | AbstractObjectKind::Global(_)
        | AbstractObjectKind::Function(_)
        | AbstractObjectKind::Label(..)
        // The environment is also what `getenv` gives to any thread.
        | AbstractObjectKind::Arguments
        | AbstractObjectKind::Texts => true,
        AbstractObjectKind::Library(_) => !points_to.is_of_thread(object) || points_to.is_escaped(object),
        AbstractObjectKind::ThreadLocal(_)
        | AbstractObjectKind::StackSlot { .. }
        | AbstractObjectKind::ByValueCopy { .. }
        | AbstractObjectKind::VariadicArea(_)
        | AbstractObjectKind::Heap { .. } => points_to.is_escaped(object),
        // No memory: a small number, a mark, bytes on their way.
        AbstractObjectKind::Key(_) | AbstractObjectKind::Residue | AbstractObjectKind::Transfer(_) => false,
    }
}
