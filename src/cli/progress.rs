//! A line on the terminal that says what is going on, for anything that takes longer than a second.

use std::io::IsTerminal;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Shows itself only on a terminal, and only after a second.
pub struct Progress {
    shown: Option<Shown>,
}

struct Shown {
    bar: ProgressBar,
    /// Dropping it ends the wait for the first second.
    done: Option<Sender<()>>,
    patience: Option<JoinHandle<()>>,
}

const PATIENCE: Duration = Duration::from_secs(1);
const REDRAW: Duration = Duration::from_millis(100);

impl Progress {
    pub fn new(is_quiet: bool) -> Progress {
        let is_wanted = !is_quiet && std::io::stderr().is_terminal();
        Progress { shown: is_wanted.then(Shown::after_a_second) }
    }

    /// What is done now.
    pub fn say(&self, what: &str) {
        if let Some(Shown { bar, .. }) = &self.shown {
            bar.set_message(what.to_owned());
        }
    }
}

impl Shown {
    /// A thread of its own waits: one stage alone may take longer than that.
    fn after_a_second() -> Shown {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} ({elapsed})") {
            bar.set_style(style);
        }
        let (done, is_done) = mpsc::channel();
        let later = bar.clone();
        let patience = std::thread::spawn(move || {
            if is_done.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                later.set_draw_target(ProgressDrawTarget::stderr());
                later.enable_steady_tick(REDRAW);
            }
        });
        Shown { bar, done: Some(done), patience: Some(patience) }
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        drop(self.done.take());
        if let Some(patience) = self.patience.take() {
            let _ = patience.join();
        }
        self.bar.finish_and_clear();
    }
}
