//! With which locks and lock histories a thread stands at its places, and whether its locks are nested.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::{Places, atom_word, atom_words};
use crate::locks::history::{BitSet, Doubt, Whole};
use crate::pushdown::SymbolId;
use crate::thread_pds::{Analysis, Nesting, Origin, Step, ThreadId, Threads};

/// For each thread: how it uses its locks, and the minimal histories at every place where it does something with locks, threads or shared
/// data, or that is asked for. No lock and no acquisition is left out.
pub fn histories(threads: &Threads, places: Places<'_>, asked: &BTreeSet<(ThreadId, SymbolId)>) -> String {
    let mut analysis = Analysis::of_all_locks(threads);
    let mut text = String::new();
    for thread in threads.ids() {
        let body = threads.thread(thread);
        let nesting = nesting(&mut analysis, thread, places);
        for origin in [Origin::Start, Origin::Created] {
            if !analysis.population.exists(thread, origin) {
                continue;
            }
            let born = match origin {
                Origin::Start => "there at the start",
                Origin::Created => "created",
            };
            writeln!(text, "thread {}, {born}: {nesting}", body.name).expect("a string grows");
            for symbol in (0..body.system.symbol_count()).map(SymbolId::from) {
                let acts = body.steps_at(symbol).any(|(_, step)| !matches!(step, Step::Nothing | Step::Condition));
                if !acts && !body.accesses.contains_key(&symbol) && !asked.contains(&(thread, symbol)) {
                    continue;
                }
                let all = analysis.histories_at(thread, origin, symbol);
                let not_reached = if all.is_empty() { "  (not reached)" } else { "" };
                writeln!(text, "  {}{not_reached}", places(thread, symbol)).expect("a string grows");
                for history in all.iter() {
                    writeln!(text, "    {}", words(&analysis, history)).expect("a string grows");
                }
            }
        }
    }
    text
}

fn nesting(analysis: &mut Analysis<'_>, thread: ThreadId, places: Places<'_>) -> String {
    let at = |symbols: &[SymbolId]| symbols.iter().map(|symbol| places(thread, *symbol)).collect::<Vec<_>>().join("; ");
    match analysis.nesting(thread) {
        Nesting::Nested => "locks are nested".to_owned(),
        Nesting::Contextual(breaks) => {
            format!("locks are not nested, but given back by who took them; out of order at {}", at(&breaks))
        }
        Nesting::NotNested(breaks) => format!("locks are not nested; out of order at {}", at(&breaks)),
    }
}

/// "holds a (then used b); holds c throughout; used d; not sure: …"
fn words(analysis: &Analysis<'_>, history: &Whole) -> String {
    let threads = analysis.threads;
    if history.doubts.contains(Doubt::TooMany) {
        return format!("too many histories; may hold {}", atom_words(threads, &history.may_hold));
    }
    let mut words = Vec::new();
    for (atom, since) in &history.held {
        let used = if since.is_empty() { String::new() } else { format!(" (then used {})", atom_words(threads, since)) };
        words.push(format!("holds {}{used}", atom_word(threads, *atom)));
    }
    if !history.throughout.is_empty() {
        words.push(format!("holds {} since its start", atom_words(threads, &history.throughout)));
    }
    let surely: BitSet = history.final_atoms().map(|atom| atom.index()).collect();
    let perhaps: BitSet = history.may_hold.iter().filter(|atom| !surely.contains(*atom)).collect();
    if !perhaps.is_empty() {
        words.push(format!("may hold {}", atom_words(threads, &perhaps)));
    }
    if words.is_empty() {
        words.push("holds nothing".to_owned());
    }
    for (atom, before) in &history.released {
        let used = if before.is_empty() { String::new() } else { format!(" (used {} before that)", atom_words(threads, before)) };
        words.push(format!("gave back {}{used}", atom_word(threads, *atom)));
    }
    let mut used = history.acquired.clone();
    surely.iter().for_each(|atom| used.remove(atom));
    if !used.is_empty() {
        words.push(format!("used {}", atom_words(threads, &used)));
    }
    if !history.doubts.is_empty() {
        let doubts: Vec<&str> = history.doubts.iter().map(Doubt::sentence).collect();
        words.push(format!("not sure: {}", doubts.join(", ")));
    }
    words.join("; ")
}
