//! Options that change nothing say so, to those who ask.

use super::support::{RACING, Scratch};

#[test]
fn an_option_without_effect_says_so_when_asked() {
    let scratch = Scratch::with(RACING);
    for (option, words) in [("--no-refine", "no refinement yet")] {
        let run = scratch.lockcheck(&["prog.c", option, "-v"]);
        assert!(
            run.code == 1 && run.stderr.starts_with(&format!("lockcheck: note: {option} ")) && run.stderr.contains(words),
            "{}",
            run.stderr
        );
        scratch.lockcheck(&["prog.c", option]).expect(1);
    }
}

#[test]
fn headers_of_the_host_are_found_for_32_bits() {
    let scratch = Scratch::with("#include <errno.h>\nint main(void) { return errno; }\n");
    scratch.lockcheck(&["prog.c", "--data-model", "32", "--allow-incomplete"]).expect(0);
    scratch.lockcheck(&["prog.c", "--allow-incomplete", "--", "-m32"]).expect(0);
}
