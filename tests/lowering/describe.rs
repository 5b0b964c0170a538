//! Names for people.

use lockcheck::program::describe::{describe_address, describe_global_part, describe_type_part};
use lockcheck::program::{Callee, Operation, Program};

use crate::support::*;

const SOURCE: &str = r#"
#include <pthread.h>
struct account { long id; int balance; pthread_mutex_t lock; };
struct conn { pthread_mutex_t lock; int state; struct conn *peer; struct account acc[3]; unsigned ready : 1, done : 1, mode : 6; };
struct account accounts[10]; int hits; static __thread int mine; struct conn *table[8]; struct { int limit; struct { int low, high; } range; } config;
void touch(void *);
void f(struct conn *c, int i, int *p, struct account *many)
{
    hits = 1;
    mine = 2;
    c->state = 3;
    accounts[i].balance = 4;
    *p = 5;
    p[i] = 6;
    c->peer->state = 7;
    c->acc[1].balance = 8;
    many[i + 1].id = 9;
    table[i]->state = 10;
    config.range.high = 11;
    accounts[3].id = 12;
    p[2] = 13;
    int local = 14;
    c->acc[i].balance = 15;
    touch(&local);
}
void locks(struct conn *c, int i) { pthread_mutex_lock(&c->lock); pthread_mutex_lock(&c->peer->acc[i].lock); pthread_mutex_lock(&accounts[i].lock); }
void bits(struct conn *c) { c->done = 1; }
"#;

/// What the constants 1, 2, … are stored to.
fn targets(program: &Program, name: &str) -> Vec<String> {
    let id = program.function_named(name).unwrap();
    let mut found: Vec<(u128, String)> = operations(&program.functions[id])
        .filter_map(|operation| match operation {
            Operation::Store { address, value: lockcheck::program::Operand::Constant(constant), .. } => {
                let lockcheck::program::Constant::Integer { value, bits } = program.constants[*constant] else { return None };
                let size = u64::from(bits / 8);
                let text = lockcheck::program::describe::describe_access(program, id, *address, size);
                Some((value, text.unwrap_or_default()))
            }
            _ => None,
        })
        .collect();
    found.sort();
    found.into_iter().map(|(_, text)| text).collect()
}

const EXPECTED: [&str; 15] = [
    "hits",
    "mine",
    "c->state",
    "accounts[i].balance",
    "*p",
    "p[i]",
    "c->peer->state",
    "c->acc[1].balance",
    "many[i + 1].id",
    "table[i]->state",
    "config.range.high",
    "accounts[3].id",
    "p[2]",
    "local",
    "c->acc[i].balance",
];

#[test]
fn stores() {
    for flags in [PLAIN, UNOPTIMIZED, PLAIN_32] {
        assert_eq!(targets(&lower_c(SOURCE, flags), "f"), EXPECTED, "{flags:?}");
    }
}

#[test]
fn stores_of_optimised_code() {
    let found = targets(&lower_c(SOURCE, OPTIMIZED), "f");
    // What is left of them keeps its name.
    for name in
        ["hits", "c->state", "c->peer->state", "c->acc[1].balance", "config.range.high", "accounts[3].id", "p[2]", "local"]
    {
        assert!(found.iter().any(|target| target == name), "{name} in {found:?}");
    }
}

#[test]
fn locks() {
    for flags in [PLAIN, OPTIMIZED] {
        let program = lower_c(SOURCE, flags);
        let id = program.function_named("locks").unwrap();
        let lock = program.function_named("pthread_mutex_lock").unwrap();
        let names: Vec<String> = operations(&program.functions[id])
            .filter_map(|operation| match operation {
                Operation::Call { callee: Callee::Direct(callee), arguments, .. } if *callee == lock => {
                    lockcheck::program::describe::describe_access(&program, id, arguments[0].value, 40)
                }
                _ => None,
            })
            .collect();
        assert_eq!(names, ["c->lock", "c->peer->acc[i].lock", "accounts[i].lock"], "{flags:?}");
    }
    let program = lower_c(SOURCE, PLAIN);
    let id = program.function_named("locks").unwrap();
    let first = operations(&program.functions[id]).find_map(|operation| match operation {
        Operation::Call { arguments, .. } => describe_address(&program, id, arguments[0].value),
        _ => None,
    });
    assert_eq!(first.as_deref(), Some("c->lock"));
}

#[test]
fn bit_fields_that_one_access_covers() {
    let program = lower_c(SOURCE, PLAIN);
    let id = program.function_named("bits").unwrap();
    let text = operations(&program.functions[id]).find_map(|operation| match operation {
        Operation::Store { address, value, .. }
            if program.type_of(&program.functions[id], *value) == lockcheck::program::Type::integer(8) =>
        {
            lockcheck::program::describe::describe_access(&program, id, *address, 1)
        }
        _ => None,
    });
    assert_eq!(text.as_deref(), Some("c->{ready, done, mode}"));
}

#[test]
fn parts_of_globals() {
    let program = lower_c(SOURCE, PLAIN);
    let part = |name: &str, offset, size| {
        let id = program.globals.iter_enumerated().find(|(_, global)| global.name == name).unwrap().0;
        describe_global_part(&program, id, offset, size)
    };
    assert_eq!(part("hits", 0, 4), "hits");
    assert_eq!(part("accounts", 3 * 56 + 8, 4), "accounts[3].balance");
    assert_eq!(part("accounts", 56, 56), "accounts[1]");
    assert_eq!(part("accounts", 0, 560), "accounts");
    assert_eq!(part("config", 8, 4), "config.range.high");
    assert_eq!(part("config", 4, 8), "config.range");
    let ty = program.globals.iter().find(|global| global.name == "config").unwrap().debug_type.unwrap();
    assert_eq!(describe_type_part(&program, ty, 4, 4), ".range.low");
}
