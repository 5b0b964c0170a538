//! The variables of the standard streams: no pointer of which nothing is known leads there.

use super::support::said_of;

const HEAD: &str = "#include <stdio.h>
extern int *somewhere(void); int named;";

#[test]
fn a_pointer_of_which_nothing_is_known_never_leads_to_a_stream() {
    let said = said_of(&format!(
        "{HEAD} void *f(void *a) {{ *somewhere() = 1; return 0; }} void *g(void *a) {{ fprintf(stderr, \"%d\", named); return 0; }} TWO(f, g)"
    ));
    // Code outside may well know where the program's own variables are.
    said.no_race("stderr").race("named");
}

#[test]
fn streams_that_the_program_itself_moves_race() {
    for moved in ["stderr = stdout;", "FILE **p = &stderr; *p = 0;", "keep = &stderr;"] {
        let said = said_of(&format!(
            "{HEAD} FILE **keep; void *f(void *a) {{ {moved} *somewhere() = 1; return 0; }} void *g(void *a) {{ fputs(\"\", stderr); return 0; }} TWO(f, g)"
        ));
        said.race("stderr");
    }
}
