//! The workers and how they begin and end.

use super::data::{Argument, Data, Datum, Guard};
use super::section::{Piece, access, nested, plain_access};
use super::{protocol, writer::Writer};

/// How threads are created and joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    /// Two functions, both joined at the end.
    Two,
    /// One function twice.
    Same,
    /// Created in one loop, joined in another.
    Loop,
    /// The first is joined before the second begins.
    OneAfterAnother,
    /// Three functions.
    Three,
    /// The first worker creates the second, and may join it.
    Nested,
    /// One worker beside `main`.
    WithMain,
    /// Nobody is joined: the process ends by itself, or with the last thread.
    NotJoined,
}

pub fn write(writer: &mut Writer, data: &Data) {
    let shape = writer.pick(&[
        Shape::Two,
        Shape::Two,
        Shape::Same,
        Shape::Loop,
        Shape::OneAfterAnother,
        Shape::Three,
        Shape::Nested,
        Shape::WithMain,
        Shape::WithMain,
        Shape::NotJoined,
    ]);
    let (workers, budget) = match shape {
        Shape::Two | Shape::Nested => (2, 3),
        Shape::NotJoined => (2, 4),
        Shape::OneAfterAnother => (2, 6),
        Shape::Same | Shape::Loop => (1, 3),
        Shape::Three => (3, 2),
        Shape::WithMain => (1, 5),
    };
    let mut bodies: Vec<Vec<Piece>> = (0..workers).map(|_| body(writer, data, budget, shape)).collect();
    if workers == 2 && writer.chance(60) {
        let (first, second) = protocol::choose(writer);
        for (body, piece) in bodies.iter_mut().zip([first, second]) {
            let rest = budget.saturating_sub(piece.cost + 1);
            while body.iter().map(|piece| piece.cost).sum::<u32>() > rest {
                body.pop();
            }
            body.push(piece);
        }
    }
    before(writer, data);
    let names = ["first", "second", "third"];
    // The creator must come after what it creates.
    for index in (0..workers).rev() {
        let nested = shape == Shape::Nested && index == 0;
        worker(writer, names[index], std::mem::take(&mut bodies[index]), data, nested);
    }
    start(writer, data, shape);
}

fn body(writer: &mut Writer, data: &Data, budget: u32, shape: Shape) -> Vec<Piece> {
    let (mut pieces, mut left) = (Vec::new(), budget);
    let mut accessible: Vec<&Datum> = data.data.iter().collect();
    if writer.is_careful && shape != Shape::OneAfterAnother {
        accessible.retain(|datum| datum.guard != Guard::Owner);
    }
    let mutexes: Vec<(&str, &str)> = data
        .data
        .iter()
        .filter_map(|datum| match &datum.guard {
            Guard::Mutex(lock) => Some((lock.as_str(), datum.place.as_str())),
            _ => None,
        })
        .collect();
    if let ([outer, inner], true) = (&mutexes[..], budget >= 4 && writer.chance(60))
        && outer.0 != inner.0
    {
        pieces.push(nested(writer, *outer, *inner));
        left = left.saturating_sub(5);
    }
    for _ in 0..3 {
        if accessible.is_empty() || left < 2 {
            break;
        }
        // All threads meet at the first one, more often than not.
        let number = if writer.chance(60) { 0 } else { writer.random.below(accessible.len() as u64) as usize };
        let piece = access(writer, accessible[number], left);
        if piece.cost > left + 1 && !pieces.is_empty() {
            continue;
        }
        left = left.saturating_sub(piece.cost);
        pieces.push(piece);
    }
    pieces
}

fn worker(writer: &mut Writer, name: &str, pieces: Vec<Piece>, data: &Data, creates: bool) {
    let mut lines: Vec<String> = pieces.into_iter().flat_map(|piece| piece.lines).collect();
    let uses = |lines: &[String], what: &str| lines.iter().any(|line| line.contains(what));
    if !lines.is_empty()
        && writer.chance(12)
        && !lines.iter().any(|line| ["seen", "return", "[i]", "p->"].iter().any(|word| line.contains(word)))
    {
        writer.cover("function-pointer");
        let action = writer.name("action");
        writer.function(format!("static void {action}(void) {{\n    {}\n}}", lines.join("\n    ")));
        lines = vec![format!("void (*{name}_action)(void) = {action};"), format!("{name}_action();")];
    }
    if creates {
        writer.cover("nested-creation");
        writer.global("static pthread_t inner;");
        let place = writer.random.below(lines.len() as u64 + 1) as usize;
        // Only between whole statements: the first line and the end are.
        let place = if place == 0 { 0 } else { lines.len() };
        lines.insert(place, "pthread_create(&inner, 0, second, argument);".to_owned());
        if writer.chance(60) {
            writer.cover("nested-join");
            lines.push("pthread_join(inner, 0);".to_owned());
        }
    }
    let mut head = Vec::new();
    match data.argument {
        Argument::Index { .. } if uses(&lines, "[i]") => head.push("int i = (int)(long)argument;".to_owned()),
        Argument::Node { .. } if uses(&lines, "p->") => head.push("struct node *p = argument;".to_owned()),
        _ => {}
    }
    if uses(&lines, "seen") {
        head.push("int seen = 0;".to_owned());
        lines.push("return (void *)(long)seen;".to_owned());
    } else {
        lines.push("return 0;".to_owned());
    }
    let text: String = head.into_iter().chain(lines).map(|line| format!("    {line}\n")).collect();
    writer.function(format!("static void *{name}(void *argument) {{\n{text}}}"));
}

/// What `main` does to the data before anyone else can.
fn before(writer: &mut Writer, data: &Data) {
    if let Argument::Node { is_same } = data.argument {
        writer.main("struct node *node = calloc(1, sizeof *node);");
        writer.main("pthread_mutex_init(&node->lock, 0);");
        if !is_same {
            writer.cover("two-heap-objects");
            writer.main("struct node *another = calloc(1, sizeof *another);");
            writer.main("pthread_mutex_init(&another->lock, 0);");
        }
    }
    for datum in &data.data {
        if let (Some(place), true) = (&datum.in_main, writer.chance(30)) {
            writer.cover("initialised-before-create");
            writer.main(&format!("{place} = 1;"));
        }
    }
}

/// The argument of the worker with this number.
fn argument(data: &Data, number: usize) -> &'static str {
    match data.argument {
        Argument::Nothing => "0",
        Argument::Index { is_same: false } if number % 2 == 1 => "(void *)1",
        Argument::Index { .. } => "0",
        Argument::Node { is_same: false } if number % 2 == 1 => "another",
        Argument::Node { .. } => "node",
    }
}

fn start(writer: &mut Writer, data: &Data, shape: Shape) {
    let create =
        |handle: &str, entry: &str, number: usize| format!("pthread_create(&{handle}, 0, {entry}, {});", argument(data, number));
    match shape {
        Shape::Two | Shape::Same | Shape::Three => {
            let entries: &[&str] = match shape {
                Shape::Two => &["first", "second"],
                Shape::Same => &["first", "first"],
                _ => &["first", "second", "third"],
            };
            writer.cover(match shape {
                Shape::Two => "two-threads",
                Shape::Same => "same-entry-twice",
                _ => "three-threads",
            });
            let handles = ["t1", "t2", "t3"];
            writer.main(&format!("pthread_t {};", handles[..entries.len()].join(", ")));
            for (index, entry) in entries.iter().enumerate() {
                writer.main(&create(handles[index], entry, index));
            }
            let forgotten = if writer.breaks(15, "broken-one-not-joined") { 1 } else { 0 };
            handles[..entries.len() - forgotten].iter().for_each(|handle| writer.main(&format!("pthread_join({handle}, 0);")));
            after(writer, data);
        }
        Shape::Loop => {
            writer.cover("created-in-loop");
            writer.main("pthread_t t[2];");
            let number = match argument(data, 1) {
                "(void *)1" => "(void *)n",
                "another" => "n ? another : node",
                other => other,
            };
            writer.main(&format!("for (long n = 0; n < 2; n++) pthread_create(&t[n], 0, first, {number});"));
            writer.main("for (int n = 0; n < 2; n++) pthread_join(t[n], 0);");
            after(writer, data);
        }
        Shape::OneAfterAnother => {
            writer.cover("one-after-another");
            writer.main("pthread_t t1, t2;");
            writer.main(&create("t1", "first", 0));
            let late = writer.breaks(40, "broken-late-join");
            if late {
                writer.main(&create("t2", "second", 1));
                writer.main("pthread_join(t1, 0);");
            } else {
                writer.main("pthread_join(t1, 0);");
                if writer.chance(50) {
                    after_access(writer, data);
                }
                writer.main(&create("t2", "second", 1));
            }
            writer.main("pthread_join(t2, 0);");
            after(writer, data);
        }
        Shape::Nested => {
            writer.main("pthread_t t1;");
            writer.main(&create("t1", "first", 0));
            writer.main("pthread_join(t1, 0);");
            writer.main("return 0;");
        }
        Shape::WithMain => {
            writer.cover("main-takes-part");
            writer.main("pthread_t t1;");
            writer.main(&create("t1", "first", 0));
            with_main(writer, data);
            writer.main("pthread_join(t1, 0);");
            after(writer, data);
        }
        Shape::NotJoined => {
            writer.main("pthread_t t1, t2;");
            writer.main(&create("t1", "first", 0));
            writer.main(&create("t2", "second", 1));
            if writer.chance(60) {
                writer.cover("never-joined-thread-exit");
                writer.main("pthread_exit(0);");
            } else {
                writer.cover("never-joined-process-ends");
                writer.main("return 0;");
            }
        }
    }
}

/// `main` accesses the data while the worker runs.
fn with_main(writer: &mut Writer, data: &Data) {
    let in_main = |datum: &Datum| {
        let lock = |lock: &String| lock.replace("p->", "node->").replace("locks[i]", "locks[0]");
        let guard = match &datum.guard {
            Guard::Mutex(name) => Guard::Mutex(lock(name)),
            other => other.clone(),
        };
        datum.in_main.clone().map(|place| Datum { place, in_main: None, guard })
    };
    let mut accessible: Vec<Datum> = data.data.iter().filter_map(in_main).collect();
    if writer.is_careful {
        accessible.retain(|datum| datum.guard != Guard::Owner);
    }
    if accessible.is_empty() {
        return;
    }
    let datum = accessible[writer.random.below(accessible.len() as u64) as usize].clone();
    let piece = access(writer, &datum, 4);
    if piece.lines.iter().any(|line| line.contains("seen")) {
        writer.main("int seen = 0;");
    }
    piece.lines.iter().for_each(|line| writer.main(line));
}

/// An access of `main` that needs no lock, because whoever else accesses the datum has been joined.
fn after_access(writer: &mut Writer, data: &Data) {
    let places: Vec<&String> =
        data.data.iter().filter(|datum| datum.guard != Guard::Private).filter_map(|datum| datum.in_main.as_ref()).collect();
    if places.is_empty() {
        return;
    }
    writer.cover("access-after-join");
    let place = places[writer.random.below(places.len() as u64) as usize].clone();
    let piece = plain_access(writer, &place, true, 1);
    piece.lines.iter().for_each(|line| writer.main(line));
}

fn after(writer: &mut Writer, data: &Data) {
    if writer.chance(40) {
        after_access(writer, data);
    }
    writer.main("return 0;");
}
