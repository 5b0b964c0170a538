//! Where reports go: files, pipes that close, terminals with and without colour.

use std::fs::File;
use std::io::Read;
use std::os::fd::FromRawFd;
use std::process::{Command, Stdio};

use super::support::{RACING, Scratch, clean, command};

#[test]
fn several_forms_go_to_several_places() {
    let scratch = Scratch::with(RACING);
    let run = scratch.lockcheck(&["prog.c", "--format", "json", "--output", "r.json", "--format", "text"]).expect(1);
    assert!(run.stdout.starts_with("prog.c:6:9: warning: "), "{}", run.stdout);
    let written: serde_json::Value = serde_json::from_str(&scratch.read("r.json")).expect("JSON");
    assert_eq!(written["schema"], "lockcheck/1");
    let run = scratch
        .lockcheck(&["prog.c", "--format", "text", "--output", "r.txt", "--format", "json", "--output", "s.json"])
        .expect(1);
    assert_eq!(run.stdout, "");
    assert!(scratch.read("r.txt").starts_with("prog.c:6:9: warning: ") && scratch.read("s.json").starts_with('{'));
    let run = scratch.lockcheck(&["prog.c", "--output", "t.txt"]).expect(1);
    assert_eq!((run.stdout.as_str(), scratch.read("t.txt")), ("", scratch.read("r.txt")));
}

#[test]
fn outputs_that_make_no_sense_are_refused() {
    let scratch = Scratch::with(RACING);
    for arguments in [
        &["--format", "text", "--format", "json"][..],
        &["--output", "a", "--format", "json"],
        &["--format", "json", "--output", "a", "--output", "b"],
    ] {
        let run = scratch.lockcheck(&[&["prog.c"], arguments].concat());
        assert!(run.code == 2 && run.stdout.is_empty() && run.stderr.starts_with("error: "), "{arguments:?}: {}", run.stderr);
    }
    scratch.lockcheck(&["prog.c", "--output", "no/such/place.txt"]).expect_refusal(&["no/such/place.txt", "cannot be written"]);
}

#[test]
fn a_reader_that_goes_away_is_no_panic() {
    let scratch = Scratch::with(RACING);
    let cases: [(&[&str], i32); 6] = [
        (&["prog.c"], 1),
        (&["prog.c", "--format", "json"], 1),
        (&["emit", "program", "prog.c"], 0),
        (&["explain", "data-race"], 0),
        (&["explain"], 0),
        (&["completions", "bash"], 0),
    ];
    for (arguments, code) in cases {
        let mut child = scratch.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("lockcheck runs");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("lockcheck ends");
        assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()), (Some(code), ""), "{arguments:?}");
    }
    let first = scratch.shell("\"$LOCKCHECK\" prog.c | head -n 1");
    assert!(first.stdout.lines().count() == 1 && first.stderr.is_empty(), "{}", first.stderr);
}

#[test]
fn a_full_disk_is_told() {
    let scratch = Scratch::with(RACING);
    scratch.shell("\"$LOCKCHECK\" prog.c > /dev/full").expect_refusal(&["standard output"]);
    scratch.lockcheck(&["prog.c", "--output", "/dev/full"]).expect_refusal(&["/dev/full"]);
}

#[test]
fn closed_streams_change_nothing() {
    let scratch = Scratch::with(RACING);
    let usual = scratch.lockcheck(&["prog.c"]).stdout;
    assert_eq!(scratch.shell("\"$LOCKCHECK\" prog.c <&-").expect(1).stdout, usual);
    assert_eq!(scratch.shell("\"$LOCKCHECK\" prog.c 2>&-").expect(1).stdout, usual);
    scratch.shell("\"$LOCKCHECK\" prog.c >&-").expect(1);
    scratch.shell("\"$LOCKCHECK\" missing.c 2>&-; test $? = 2").expect(0);
}

/// Standard output and standard error of the command on a terminal of its own.
fn on_a_terminal(mut command: Command) -> String {
    let (mut master, mut slave) = (0, 0);
    // SAFETY: both descriptors are ours from here on; the other arguments may be null.
    let opened =
        unsafe { libc::openpty(&mut master, &mut slave, std::ptr::null_mut(), std::ptr::null_mut(), std::ptr::null_mut()) };
    assert_eq!(opened, 0, "a pseudo-terminal");
    // SAFETY: see above.
    let (mut master, slave) = unsafe { (File::from_raw_fd(master), File::from_raw_fd(slave)) };
    let copy = slave.try_clone().expect("a copy of a descriptor");
    let mut child = command.env("TERM", "xterm").stdin(Stdio::null()).stdout(copy).stderr(slave).spawn().expect("lockcheck runs");
    drop(command);
    let mut seen = Vec::new();
    let mut buffer = [0; 4096];
    // Reading fails once nobody holds the other side.
    while let Ok(count @ 1..) = master.read(&mut buffer) {
        seen.extend(&buffer[..count]);
    }
    child.wait().expect("lockcheck ends");
    String::from_utf8_lossy(&seen).into_owned()
}

const ESCAPE: &str = "\x1b[";

#[test]
fn colour_is_for_terminals_unless_told_otherwise() {
    let scratch = Scratch::with(RACING);
    let plain = scratch.lockcheck(&["prog.c"]).expect(1).stdout;
    assert!(!plain.contains(ESCAPE));
    assert_eq!(scratch.lockcheck(&["prog.c", "--color", "never"]).expect(1).stdout, plain);
    let coloured = scratch.lockcheck(&["prog.c", "--color", "always"]).expect(1).stdout;
    assert!(coloured.contains(ESCAPE) && coloured.contains("data race on hits"), "{coloured}");
    let mut command = scratch.command(&["prog.c", "--color", "always"]);
    assert!(
        String::from_utf8_lossy(&command.env("NO_COLOR", "1").output().expect("lockcheck runs").stdout).contains(ESCAPE),
        "an explicit word counts"
    );
    assert!(on_a_terminal(scratch.command(&["prog.c"])).contains("\x1b[1;35mwarning:"));
    assert!(!on_a_terminal(scratch.command(&["prog.c", "--color", "never"])).contains(ESCAPE));
    let mut command = scratch.command(&["prog.c"]);
    command.env("NO_COLOR", "1");
    assert!(!on_a_terminal(command).contains(ESCAPE));
    scratch.lockcheck(&["prog.c", "--color", "always", "--output", "r.txt"]).expect(1);
    assert!(!scratch.read("r.txt").contains(ESCAPE), "files are plain");
}

const ENDLESS: &str = "#include <pthread.h>\nint x;\nstatic void *spin(void *a) { for (;;) x++; return a; }\n\
    int main(void) { pthread_t t; pthread_create(&t, 0, spin, 0); return pthread_join(t, 0); }\n";

#[test]
fn progress_is_for_terminals_and_long_runs() {
    let scratch = Scratch::with(ENDLESS);
    let seen = on_a_terminal(scratch.command(&["prog.c", "--budget", "2"]));
    assert!(seen.contains("executing schedule"), "{seen:?}");
    let quiet = on_a_terminal(scratch.command(&["prog.c", "--budget", "2", "-q"]));
    assert!(!quiet.contains("executing schedule"), "{quiet:?}");
    scratch.lockcheck(&["prog.c", "--budget", "1.5"]).expect(3);
    scratch.write("prog.c", &clean());
    let short = on_a_terminal(scratch.command(&["prog.c"]));
    assert!(!short.contains("schedule 1"), "{short:?}");
}

#[test]
fn help_is_answered_without_a_terminal() {
    let output = command().arg("--help").stdin(Stdio::null()).output().expect("lockcheck runs");
    assert!(output.status.success() && output.stderr.is_empty());
}
