//! Schedules aimed at a pair of sites show what chance does not, and how many threads make the runs changes nothing.
#![cfg(feature = "llvm")]

use lockcheck::explore::campaign::{Aim, AimedEffort, Campaign, Effort, is_shown_again};
use lockcheck::explore::machine::{Machine, RunOptions};
use lockcheck::explore::scheduler::Target;
use lockcheck::frontend::{LoadOptions, load};
use lockcheck::models::Models;
use lockcheck::program::{Operation, Program, SiteId};

/// `x` is written between long stretches of locking, which order almost every two executions of lines 9 and 15: they race only when both
/// threads stand before them at the same time. Line 4 comes before all of it.
const NARROW: &str = "\
#include <pthread.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int x, ready;
static void prepare(void) { ready = 1; }
static void lock_often(void) { for (int i = 0; i < 150; i++) { pthread_mutex_lock(&m); pthread_mutex_unlock(&m); } }
static void *first(void *arg)
{
    lock_often();
    x = 1;
    lock_often();
    return arg;
}
static void *second(void *arg)
{
    lock_often(); lock_often(); lock_often(); x = 2 + ready; lock_often();
    return arg;
}
int main(void)
{
    pthread_t one, two;
    prepare();
    pthread_create(&one, 0, first, 0);
    pthread_create(&two, 0, second, 0);
    return pthread_join(one, 0) + pthread_join(two, 0);
}
";

fn load_text(source: &str) -> Program {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let file = directory.path().join("prog.c");
    std::fs::write(&file, source).expect("a program can be written");
    load(&[file], &LoadOptions::default()).unwrap_or_else(|error| panic!("{error}"))
}

fn machine<'p>(program: &'p Program, models: &Models) -> Machine<'p> {
    Machine::new(program, &models.bind(program), RunOptions::default()).expect("the program can be run")
}

/// The one instruction of this sort on a line.
fn site(program: &Program, line: u32, is_wanted: fn(&Operation) -> bool) -> SiteId {
    let instructions = program.functions.iter().flat_map(|function| &function.blocks).flat_map(|block| &block.instructions);
    let mut sites = instructions.filter(|instruction| is_wanted(&instruction.operation)).map(|instruction| instruction.site);
    sites.find(|site| program.place_of(*site).is_some_and(|place| place.line == line)).expect("there is such an access")
}

fn is_store(operation: &Operation) -> bool {
    matches!(operation, Operation::Store { .. })
}

fn is_load(operation: &Operation) -> bool {
    matches!(operation, Operation::Load { .. })
}

fn effort(schedules: u64, jobs: usize) -> Effort {
    Effort { schedules, steps: 100_000_000, steps_per_run: 1_000_000, deadline: None, seed: 0, jobs }
}

fn aim(sites: [SiteId; 2]) -> Aim {
    Aim { targets: vec![Target { sites }], ..Aim::default() }
}

#[test]
fn what_chance_misses_is_shown() {
    let (program, models) = (load_text(NARROW), Models::embedded());
    let machine = machine(&program, &models);
    let mut campaign = Campaign::default();
    campaign.add_random(&machine, &effort(20, 1), &mut |_| {});
    assert_eq!(campaign.shown().count(), 0, "the window is too wide for a test");
    let sites = [site(&program, 9, is_store), site(&program, 15, is_store)];
    let mut aims = [aim(sites)];
    campaign.add_aimed(&machine, &mut aims, &AimedEffort { schedules: 10, effort: effort(0, 1) }, &mut |_| {});
    let [shown] = campaign.shown().collect::<Vec<_>>()[..] else { panic!("one race") };
    assert!(aims[0].is_shown && aims[0].tried < 10 && shown.bug.object == "x", "{:?} {}", aims[0], shown.bug.message);
    assert!(is_shown_again(&machine, shown, 1_000_000));
}

#[test]
fn no_aim_eats_the_schedules_of_another() {
    let (program, models) = (load_text(NARROW), Models::embedded());
    let machine = machine(&program, &models);
    let narrow = [site(&program, 9, is_store), site(&program, 15, is_store)];
    // Creation orders these two.
    let impossible = [site(&program, 4, is_store), site(&program, 15, is_load)];
    let mut aims = [aim(impossible), aim(narrow)];
    let mut campaign = Campaign::default();
    campaign.add_aimed(&machine, &mut aims, &AimedEffort { schedules: 12, effort: effort(0, 2) }, &mut |_| {});
    assert!(!aims[0].is_shown && aims[0].tried == 12, "{:?}", aims[0]);
    assert!(aims[1].is_shown && aims[1].tried < 12, "{:?}", aims[1]);
    assert_eq!(campaign.executions, aims[0].tried + aims[1].tried);
}

#[test]
fn a_thread_that_others_wait_for_is_let_go() {
    // The second thread spins until the first has passed the site, so nobody can ever meet it there.
    let source = NARROW.replace(
        "    lock_often(); lock_often(); lock_often(); x = 2 + ready;",
        "    while (!__atomic_load_n(&go, __ATOMIC_ACQUIRE)) { } x = 2 + ready;",
    );
    let source =
        source.replace("int x,", "int go, x,").replace("    x = 1;", "    x = 1; __atomic_store_n(&go, 1, __ATOMIC_RELEASE);");
    let (program, models) = (load_text(&source), Models::embedded());
    let machine = machine(&program, &models);
    let mut aims = [aim([site(&program, 9, is_store), site(&program, 15, is_store)])];
    let mut campaign = Campaign::default();
    campaign.add_aimed(&machine, &mut aims, &AimedEffort { schedules: 6, effort: effort(0, 1) }, &mut |_| {});
    assert!(aims[0].tried == 6 && !aims[0].is_shown && campaign.shown().count() == 0);
    assert!(
        campaign.limits().iter().all(|limit| limit.to_string().contains("schedules were tried")),
        "every run comes to its end: {:?}",
        campaign.limits()
    );
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let racing = NARROW.replace("    lock_often();\n    x = 1;", "\n    x = 1;");
    for source in [NARROW, &racing] {
        let (program, models) = (load_text(source), Models::embedded());
        let machine = machine(&program, &models);
        let sites = [site(&program, 9, is_store), site(&program, 15, is_store)];
        let run = |jobs: usize, steps: u64| {
            let mut campaign = Campaign::default();
            let mut aims = [aim(sites)];
            let effort = Effort { steps, ..effort(30, jobs) };
            campaign.add_random(&machine, &effort, &mut |_| {});
            campaign.add_aimed(&machine, &mut aims, &AimedEffort { schedules: 10, effort }, &mut |_| {});
            let shown: Vec<String> = campaign.shown().map(|shown| format!("{} {:?}", shown.schedule, shown.bug)).collect();
            (campaign.executions, campaign.transitions, campaign.steps, campaign.limits(), aims[0].tried, shown)
        };
        for steps in [100_000_000, 20_000] {
            let alone = run(1, steps);
            assert_eq!(alone, run(3, steps));
            assert_eq!(alone, run(8, steps));
        }
    }
}
