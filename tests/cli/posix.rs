//! Functions of the system: what they touch is known, what they answer is not.

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
