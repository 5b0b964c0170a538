//! A line on the terminal that says what is going on, for anything that takes longer than a second.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// Shows itself only on a terminal, and only after a second.
pub struct Progress {
    bar: Option<ProgressBar>,
    started: std::time::Instant,
}

const PATIENCE: Duration = Duration::from_secs(1);
const REDRAW: Duration = Duration::from_millis(100);

impl Progress {
    pub fn new(is_quiet: bool) -> Progress {
        let is_wanted = !is_quiet && std::io::stderr().is_terminal();
        Progress { bar: is_wanted.then(ProgressBar::hidden), started: std::time::Instant::now() }
    }

    /// What is done now.
    pub fn say(&self, what: &str) {
        let Some(bar) = &self.bar else { return };
        if bar.is_hidden() && self.started.elapsed() >= PATIENCE {
            bar.set_draw_target(indicatif::ProgressDrawTarget::stderr());
            if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} ({elapsed})") {
                bar.set_style(style);
            }
            bar.enable_steady_tick(REDRAW);
        }
        bar.set_message(what.to_owned());
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
