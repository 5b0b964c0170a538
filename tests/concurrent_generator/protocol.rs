//! Ownership passed from one worker to the other without a lock: flags, semaphores, barriers, once.

use super::section::Piece;
use super::writer::Writer;

/// What the first worker does, and what the second one.
pub type Roles = (Piece, Piece);

pub fn choose(writer: &mut Writer) -> Roles {
    let place = writer.name("h");
    writer.global(&format!("static int {place};"));
    match writer.random.below(8) {
        0..=2 => flag(writer, &place),
        3 | 4 => semaphore(writer, &place),
        5 => barrier(writer, &place),
        6 => once(writer, &place),
        _ => locked_flag(writer, &place),
    }
}

/// A flag that is set with a release and tested once with an acquire.
fn flag(writer: &mut Writer, place: &str) -> Roles {
    writer.cover("flag");
    writer.header("#include <stdatomic.h>");
    let name = writer.name("flag");
    writer.global(&format!("static atomic_int {name};"));
    let (mut store, mut load) = writer.pick(&[("release", "acquire"), ("seq_cst", "seq_cst"), ("release", "seq_cst")]);
    if writer.breaks(45, "broken-relaxed-store") {
        store = "relaxed";
    }
    if writer.breaks(45, "broken-relaxed-load") {
        load = "relaxed";
    }
    let is_read_modify_write = writer.chance(25);
    let set = if is_read_modify_write {
        writer.cover("flag-exchange");
        format!("atomic_exchange_explicit(&{name}, 1, memory_order_{store});")
    } else {
        format!("atomic_store_explicit(&{name}, 1, memory_order_{store});")
    };
    let write = format!("{place} = 1;");
    let late = writer.breaks(45, "broken-flag-set-first");
    let first = if late { [set.as_str(), &write] } else { [write.as_str(), &set] };
    let test = format!("if (atomic_load_explicit(&{name}, memory_order_{load}) == 1)");
    let use_it = writer.pick(&["seen += @;", "@ = 2;"]).replace('@', place);
    if load == "relaxed" && writer.chance(60) {
        writer.cover("fence");
        let fenced = format!("    atomic_thread_fence(memory_order_acquire), {use_it}");
        return (Piece::of(2, &first), Piece::of(3, &[&test, &fenced]));
    }
    (Piece::of(2, &first), Piece::of(2, &[&test, &format!("    {use_it}")]))
}

/// A unit that is posted when the data is ready.
fn semaphore(writer: &mut Writer, place: &str) -> Roles {
    writer.cover("semaphore");
    writer.header("#include <semaphore.h>");
    writer.global("static sem_t ready;");
    let units = if writer.breaks(45, "broken-initial-unit") { 1 } else { 0 };
    writer.beginning.push(format!("sem_init(&ready, 0, {units});"));
    let write = format!("{place} = 1;");
    let first = if writer.breaks(45, "broken-posted-early") {
        ["sem_post(&ready);", write.as_str()]
    } else {
        [write.as_str(), "sem_post(&ready);"]
    };
    let read = format!("seen += {place};");
    if writer.chance(30) {
        writer.cover("semaphore-trywait");
        return (Piece::of(2, &first), Piece::of(2, &["if (sem_trywait(&ready) == 0)", &format!("    {read}")]));
    }
    (Piece::of(2, &first), Piece::of(2, &["sem_wait(&ready);", &read]))
}

/// Two phases: what one writes before the barrier the other reads after it.
fn barrier(writer: &mut Writer, place: &str) -> Roles {
    writer.cover("barrier");
    writer.global("static pthread_barrier_t phase;");
    writer.beginning.push("pthread_barrier_init(&phase, 0, 2);".to_owned());
    let (write, read, wait) = (format!("{place} = 1;"), format!("seen += {place};"), "pthread_barrier_wait(&phase);");
    let second = if writer.breaks(45, "broken-read-before-barrier") { [read.as_str(), wait] } else { [wait, read.as_str()] };
    (Piece::of(3, &[&write, wait]), Piece::of(3, &second))
}

/// Whoever comes first initialises.
fn once(writer: &mut Writer, place: &str) -> Roles {
    writer.cover("once");
    writer.global("static pthread_once_t control = PTHREAD_ONCE_INIT;");
    writer.function(format!("static void initialise(void) {{ {place} = 1; }}"));
    let call = "pthread_once(&control, initialise);";
    let read = format!("seen += {place};");
    let second = if writer.breaks(45, "broken-without-once") { Piece::of(1, &[&read]) } else { Piece::of(2, &[call, &read]) };
    (Piece::of(2, &[call, &read]), second)
}

/// A flag under a mutex protects what is not accessed under it.
fn locked_flag(writer: &mut Writer, place: &str) -> Roles {
    writer.cover("locked-flag");
    writer.global("static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;");
    writer.global("static int is_ready;");
    let write = format!("{place} = 1;");
    let late = writer.breaks(45, "broken-flag-set-first");
    let set = "pthread_mutex_lock(&gate); is_ready = 1; pthread_mutex_unlock(&gate);";
    let first = if late { [set, write.as_str()] } else { [write.as_str(), set] };
    let test = [
        "pthread_mutex_lock(&gate);",
        "int go = is_ready;",
        "pthread_mutex_unlock(&gate);",
        "if (go)",
        &format!("    seen += {place};"),
    ]
    .map(str::to_owned);
    (Piece::of(4, &first), Piece { lines: test.to_vec(), cost: 4 })
}
