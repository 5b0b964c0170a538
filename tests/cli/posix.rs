//! Functions of the system: what they touch is known, what they answer is not.

use std::collections::BTreeMap;

use lockcheck::models::{AllocationResult, Effect, FunctionModel, Models, SizeSource};

use super::support::{Scratch, list};

/// Two threads that each receive into the buffer that `BUFFER` names, under the lock that `LOCK` and `UNLOCK` take and release, if they do.
fn receivers(buffer: &str, lock: &str, unlock: &str) -> Scratch {
    Scratch::with(&format!(
        "\
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>
char shared[64];
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *receiver(void *arg) {{
    char own[64];
    int s = socket(AF_INET, SOCK_STREAM, 0);
    {lock}
    recv(s, {buffer}, 64, 0);
    {unlock}
    close(s);
    return own[0] ? arg : 0;
}}
int main(void) {{
    pthread_t one, other;
    pthread_create(&one, NULL, receiver, NULL);
    pthread_create(&other, NULL, receiver, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    return 0;
}}
"
    ))
}

#[test]
fn what_they_write_races() {
    let report = receivers("shared", "", "").report(&["--check", "race"]);
    let [finding] = list(&report, "findings") else { panic!("one finding: {report}") };
    assert_eq!(
        (&finding["object"], &finding["verdict"]),
        (&"shared".into(), &"possible".into()),
        "no run computes an answer: {finding}"
    );
    assert!(list(&report, "assumptions").iter().all(|assumption| assumption["kind"] == "not-computed"), "{report}");
}

#[test]
fn proofs_do_not_rest_on_what_they_answer() {
    for scratch in [receivers("own", "", ""), receivers("shared", "pthread_mutex_lock(&m);", "pthread_mutex_unlock(&m);")] {
        let report = scratch.report(&["--check", "race"]);
        assert_eq!(list(&report, "findings").len(), 0, "{report}");
        assert_eq!(report["checks"]["race"], "safe", "{report}");
        scratch.lockcheck(&["--check", "race", "prog.c"]).expect(0);
    }
}

/// `fcntl` with two arguments, with a number, and with the address of a lock.
#[test]
fn an_argument_may_be_absent_or_a_number() {
    let scratch = Scratch::with(
        "\
#include <fcntl.h>
#include <assert.h>
int main(void) {
    struct flock region = {0};
    int flags = fcntl(0, F_GETFL);
    fcntl(0, F_SETFL, flags | O_NONBLOCK);
    fcntl(0, F_GETLK, &region);
    assert(0);
}
",
    );
    let report = scratch.report(&[]);
    let [finding] = list(&report, "findings") else { panic!("the assertion alone: {report}") };
    assert_eq!((&finding["rule"], &finding["verdict"]), (&"assertion".into(), &"possible".into()), "{finding}");
}

const HEADERS: [&str; 50] = [
    "arpa/inet.h",
    "err.h",
    "execinfo.h",
    "fcntl.h",
    "fnmatch.h",
    "grp.h",
    "libintl.h",
    "malloc.h",
    "net/if.h",
    "netdb.h",
    "poll.h",
    "pthread.h",
    "sched.h",
    "signal.h",
    "stdio.h",
    "stdlib.h",
    "string.h",
    "sys/epoll.h",
    "sys/eventfd.h",
    "sys/file.h",
    "sys/inotify.h",
    "sys/mman.h",
    "sys/random.h",
    "sys/resource.h",
    "sys/select.h",
    "sys/sendfile.h",
    "sys/socket.h",
    "sys/stat.h",
    "sys/statvfs.h",
    "sys/sysinfo.h",
    "sys/time.h",
    "sys/timerfd.h",
    "sys/times.h",
    "sys/types.h",
    "sys/utsname.h",
    "sys/vfs.h",
    "sys/wait.h",
    "syslog.h",
    "time.h",
    "unistd.h",
    "utime.h",
    "wchar.h",
    "wctype.h",
    "dirent.h",
    "getopt.h",
    "sys/uio.h",
    "ifaddrs.h",
    "pwd.h",
    "limits.h",
    "errno.h",
];

/// By name: the type that is returned, and those of the parameters, as LLVM writes them; `...` last for a variadic function.
fn prototypes(names: &[&str]) -> BTreeMap<String, (String, Vec<String>)> {
    let headers: String = HEADERS.iter().map(|header| format!("#include <{header}>\n")).collect();
    let scratch =
        Scratch::with(&format!("#define _GNU_SOURCE\n{headers}void *all[] = {{(void *){}}};\n", names.join(", (void *)")));
    scratch.clang("-w -S -emit-llvm prog.c -o prog.ll");
    let text = scratch.read("prog.ll");
    let prototype = |line: &str| {
        let (before, rest) = line.strip_prefix("declare ")?.split_once('@')?;
        let (name, rest) = rest.split_once('(')?;
        let (parameters, _) = rest.split_once(')')?;
        let first_word = |parameter: &str| parameter.split_whitespace().next().map(str::to_owned);
        let returned = before.split_whitespace().last()?.to_owned();
        Some((name.to_owned(), (returned, parameters.split(',').filter_map(first_word).collect())))
    };
    text.lines().filter_map(prototype).collect()
}

#[test]
fn what_is_said_of_them_fits_the_headers() {
    let models = Models::embedded();
    // The headers of libevent are no part of the system.
    let is_of_library = |name: &str| ["__", "event_", "evthread_", "libevent_"].iter().any(|prefix| name.starts_with(prefix));
    let is_of_system = |model: &&FunctionModel| model.effects.contains(&Effect::NotComputed) && !is_of_library(&model.name);
    let system: Vec<&FunctionModel> = models.iter().filter(is_of_system).collect();
    assert!(system.len() > 150, "there are many: {}", system.len());
    let prototypes = prototypes(&system.iter().map(|model| model.name.as_str()).collect::<Vec<_>>());
    for FunctionModel { name, effects, builtin, .. } in system {
        assert_eq!(*builtin, None, "{name} is computed");
        let (returned, parameters) = prototypes.get(name).unwrap_or_else(|| panic!("no header has {name}"));
        let is_variadic = parameters.last().is_some_and(|last| last == "...");
        let parameter = |position: usize| parameters.get(position).map(String::as_str).filter(|ty| *ty != "...");
        let mut pointers: Vec<usize> = (0..parameters.len()).filter(|position| parameter(*position) == Some("ptr")).collect();
        for effect in effects {
            match effect {
                Effect::Reads(range) | Effect::Writes(range) => {
                    let ty = parameter(range.argument);
                    assert!(ty == Some("ptr") || ty.is_none() && is_variadic, "{name}: argument {} is {ty:?}", range.argument);
                    pointers.retain(|position| *position != range.argument);
                    if let SizeSource::Argument(size) = range.size {
                        assert!(parameter(size).is_some_and(|ty| ty.starts_with('i')), "{name}: argument {size} is no size");
                    }
                }
                Effect::Free { pointer: address } | Effect::Allocate { result: AllocationResult::StoredAt(address), .. } => {
                    assert_eq!(parameter(*address), Some("ptr"), "{name}");
                    pointers.retain(|position| position != address);
                }
                Effect::ReturnsOwnMemory => assert_eq!(returned, "ptr", "{name}"),
                Effect::Returns { argument } => assert_eq!(parameter(*argument), Some(returned.as_str()), "{name}"),
                Effect::ReturnsOneOf { .. } => assert!(returned.starts_with('i'), "{name} returns {returned}"),
                _ => {}
            }
        }
        // These speak of pages, not of what is in them.
        let is_about_pages = ["mlock", "munlock", "mprotect", "mmap", "mmap64"].contains(&name.as_str());
        assert!(pointers.is_empty() || is_about_pages, "nothing is said of what arguments {pointers:?} of {name} point to");
    }
}
