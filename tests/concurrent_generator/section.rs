//! One access in all the ways that critical sections are written.

use super::data::{Datum, Guard};
use super::writer::Writer;

/// Lines of a worker, and how many visible operations they are.
#[derive(Clone, Debug, Default)]
pub struct Piece {
    pub lines: Vec<String>,
    pub cost: u32,
}

impl Piece {
    pub fn of(cost: u32, lines: &[&str]) -> Piece {
        Piece { lines: lines.iter().map(|line| (*line).to_owned()).collect(), cost }
    }

    /// With each line one level deeper, between two others.
    fn inside(self, first: &str, last: &str) -> Piece {
        let indented = self.lines.into_iter().map(|line| format!("    {line}"));
        let lines = [first.to_owned()].into_iter().chain(indented).chain([last.to_owned()]).collect();
        Piece { lines, cost: self.cost }
    }
}

/// An access to a datum under its discipline, or against it. At most `budget` visible operations, where that is possible.
pub fn access(writer: &mut Writer, datum: &Datum, budget: u32) -> Piece {
    let is_write = writer.chance(65);
    let place = &datum.place;
    let room = budget.saturating_sub(2);
    let body = plain_access(writer, place, is_write, if datum.guard == Guard::Atomic { 1 } else { room.max(1) });
    let piece = match &datum.guard {
        Guard::Private | Guard::Owner => body,
        Guard::Atomic => atomic_access(writer, place),
        Guard::Mutex(lock) => mutex_section(writer, lock, body),
        Guard::Recursive(lock) => recursive_section(writer, lock, body, budget),
        Guard::ReadWrite(lock) => read_write_section(writer, lock, body, is_write),
        Guard::Spin(lock) => spin_section(writer, lock, body),
        Guard::Section => atomic_section(writer, body),
    };
    if writer.chance(12) {
        return branch_on_input(writer, piece);
    }
    if datum.guard != Guard::Private && budget > piece.cost && writer.breaks(12, "broken-when-seen") {
        let mut piece = piece;
        piece.lines.extend([format!("if (seen == {})", writer.random.between(1, 2)), format!("    {place} = 7;")]);
        piece.cost += 1;
        return piece;
    }
    piece
}

/// Two sections, one inside the other. A careful program always nests them in the same order.
pub fn nested(writer: &mut Writer, outer: (&str, &str), inner: (&str, &str)) -> Piece {
    writer.cover("nested-locks");
    let swaps = writer.breaks(50, "broken-lock-order");
    let ((first, _), (second, place)) = if swaps { (inner, outer) } else { (outer, inner) };
    let lines = [
        format!("pthread_mutex_lock(&{first});"),
        format!("pthread_mutex_lock(&{second});"),
        format!("{place} = 2;"),
        format!("pthread_mutex_unlock(&{second});"),
        format!("pthread_mutex_unlock(&{first});"),
    ];
    Piece { lines: lines.to_vec(), cost: 4 }
}

/// Without any protection.
pub fn plain_access(writer: &mut Writer, place: &str, is_write: bool, budget: u32) -> Piece {
    let value = writer.random.between(1, 3);
    let update = budget >= 2 && writer.chance(60);
    match (is_write, update) {
        (true, true) => {
            writer.cover("update");
            if writer.chance(25) {
                writer.cover("branch-on-shared-data");
                return Piece::of(2, &[&format!("if ({place} < {value})"), &format!("    {place} = {value};")]);
            }
            Piece::of(2, &[&writer.pick(&[format!("{place}++;").as_str(), format!("{place} += {value};").as_str()]).to_owned()])
        }
        (true, false) => Piece::of(1, &[&format!("{place} = {value};")]),
        (false, _) => Piece::of(1, &[&format!("seen += {place};")]),
    }
}

fn branch_on_input(writer: &mut Writer, piece: Piece) -> Piece {
    writer.cover("branch-on-input");
    writer.global("extern _Bool __VERIFIER_nondet_bool(void);");
    piece.inside("if (__VERIFIER_nondet_bool()) {", "}")
}

fn mutex_section(writer: &mut Writer, lock: &str, body: Piece) -> Piece {
    if writer.breaks(30, "broken-no-lock") {
        return body;
    }
    let other = "static pthread_mutex_t other = PTHREAD_MUTEX_INITIALIZER;";
    let lock = if writer.breaks(18, "broken-other-lock") {
        writer.global(other);
        "other"
    } else {
        lock
    };
    let cost = body.cost + 2;
    let (take, give) = (format!("pthread_mutex_lock(&{lock});"), format!("pthread_mutex_unlock(&{lock});"));
    let attempt = format!("pthread_mutex_trylock(&{lock})");
    let mut piece = match writer.random.below(14) {
        0 => {
            writer.cover("trylock-compared");
            guarded(body, &format!("if ({attempt} == 0) {{"), &give)
        }
        1 => {
            writer.cover("trylock-negated");
            let is_broken = writer.breaks(60, "broken-else-branch");
            let otherwise = body.lines.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ");
            let mut piece = guarded(body, &format!("if (!{attempt}) {{"), &give);
            if is_broken {
                piece.lines.pop();
                piece.lines.push(format!("}} else {{ {otherwise} }}"));
            }
            piece
        }
        2 => {
            writer.cover("trylock-variable");
            let result = writer.name("result");
            let mut piece = guarded(body, &format!("if ({result} == 0) {{"), &give);
            piece.lines.insert(0, format!("int {result} = {attempt};"));
            piece
        }
        3 => {
            writer.cover("trylock-switch");
            let mut piece = guarded(body, &format!("switch ({attempt}) {{ case 0:"), &give);
            piece.lines.insert(piece.lines.len() - 1, "    break;".to_owned());
            piece
        }
        4 if writer.breaks(100, "broken-trylock-ignored") => between(body, &format!("{attempt};"), &give),
        5 | 6 => {
            writer.cover("lock-wrapper");
            writer.function("static void enter(pthread_mutex_t *lock) { pthread_mutex_lock(lock); }".to_owned());
            writer.function("static void leave(pthread_mutex_t *lock) { pthread_mutex_unlock(lock); }".to_owned());
            between(body, &format!("enter(&{lock});"), &format!("leave(&{lock});"))
        }
        7 => {
            writer.cover("try-wrapper");
            writer.function("static int attempt(pthread_mutex_t *lock) { return pthread_mutex_trylock(lock) == 0; }".to_owned());
            guarded(body, &format!("if (attempt(&{lock})) {{"), &give)
        }
        8 => {
            writer.cover("early-return");
            let leaks = writer.breaks(30, "broken-lock-leak");
            let give_early = if leaks { String::new() } else { format!("{give} ") };
            let mut piece = between(body, &take, &give);
            piece.lines.insert(piece.lines.len() - 1, format!("if (seen > 1) {{ {give_early}return 0; }}"));
            piece
        }
        9 if !writer.is_careful => {
            writer.cover("broken-early-unlock");
            let mut lines = vec![take, give];
            lines.extend(body.lines);
            Piece { lines, cost: body.cost }
        }
        _ => between(body, &take, &give),
    };
    piece.cost = cost;
    piece
}

/// The body under a condition, and the release with it.
fn guarded(body: Piece, first: &str, give: &str) -> Piece {
    let mut body = body;
    body.lines.push(give.to_owned());
    body.inside(first, "}")
}

fn between(body: Piece, first: &str, last: &str) -> Piece {
    let lines = [first.to_owned()].into_iter().chain(body.lines).chain([last.to_owned()]).collect();
    Piece { lines, cost: body.cost }
}

fn recursive_section(writer: &mut Writer, lock: &str, body: Piece, budget: u32) -> Piece {
    if writer.breaks(20, "broken-no-lock") {
        return body;
    }
    let cost = body.cost;
    let (take, give) = (format!("pthread_mutex_lock(&{lock});"), format!("pthread_mutex_unlock(&{lock});"));
    if budget < cost + 2 || writer.chance(50) {
        return Piece { cost: cost + 2, ..between(body, &take, &give) };
    }
    writer.cover("recursive-nested");
    let forgets = writer.breaks(20, "broken-lock-leak");
    let inner = between(body, &take, &give);
    let last = if forgets { String::new() } else { give };
    Piece { cost: cost + 4, ..between(inner, &take, &last) }
}

fn read_write_section(writer: &mut Writer, lock: &str, body: Piece, is_write: bool) -> Piece {
    if writer.breaks(15, "broken-no-lock") {
        return body;
    }
    let reads = !is_write || writer.breaks(30, "broken-write-under-read-lock");
    let mode = if reads { "rd" } else { "wr" };
    let cost = body.cost + 2;
    let give = format!("pthread_rwlock_unlock(&{lock});");
    if writer.chance(20) {
        writer.cover("read-write-trylock");
        return Piece { cost, ..guarded(body, &format!("if (!pthread_rwlock_try{mode}lock(&{lock})) {{"), &give) };
    }
    Piece { cost, ..between(body, &format!("pthread_rwlock_{mode}lock(&{lock});"), &give) }
}

fn spin_section(writer: &mut Writer, lock: &str, body: Piece) -> Piece {
    if writer.breaks(25, "broken-no-lock") {
        return body;
    }
    Piece {
        cost: body.cost + 2,
        ..between(body, &format!("pthread_spin_lock(&{lock});"), &format!("pthread_spin_unlock(&{lock});"))
    }
}

fn atomic_section(writer: &mut Writer, body: Piece) -> Piece {
    if writer.breaks(25, "broken-no-lock") {
        return body;
    }
    if writer.chance(40) && body.lines.iter().all(|line| !line.contains("seen")) {
        writer.cover("atomic-function");
        let name = writer.name("__VERIFIER_atomic_f");
        writer.function(format!("void {name}(void) {{ {} }}", body.lines.join(" ")));
        return Piece::of(2, &[&format!("{name}();")]);
    }
    writer.global("extern void __VERIFIER_atomic_begin(void), __VERIFIER_atomic_end(void);");
    Piece { cost: 2, ..between(body, "__VERIFIER_atomic_begin();", "__VERIFIER_atomic_end();") }
}

fn atomic_access(writer: &mut Writer, place: &str) -> Piece {
    let order = writer.pick(&["relaxed", "relaxed", "acq_rel", "seq_cst"]);
    match writer.random.below(4) {
        0 => {
            writer.cover("atomic-fetch-add");
            Piece::of(1, &[&format!("atomic_fetch_add_explicit(&{place}, 1, memory_order_{order});")])
        }
        1 => {
            writer.cover("atomic-load");
            Piece::of(1, &[&format!("seen += {place};")])
        }
        2 => {
            writer.cover("atomic-exchange");
            Piece::of(1, &[&format!("seen += atomic_exchange(&{place}, 1);")])
        }
        _ => {
            writer.cover("atomic-compare-exchange");
            let expected = writer.name("expected");
            Piece::of(
                1,
                &[&format!("int {expected} = 0;"), &format!("seen += atomic_compare_exchange_strong(&{place}, &{expected}, 1);")],
            )
        }
    }
}
