//! A bar or a spinner on the terminal's standard error for what takes a while.

use std::fmt::Write;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use super::time;

/// Work that is done sooner shows nothing.
const SHOW_AFTER: Duration = Duration::from_millis(500);
/// How often it is drawn at most.
const DRAWS_PER_SECOND: u8 = 10;
/// The count, its end, the average rate, and the time that is left.
const TEMPLATE: &str = "{msg} {wide_bar} {done}/{all} {rate}/s {eta}";
/// How often a spinner moves.
const TICK_EVERY: Duration = Duration::from_millis(100);

/// How far some work is, with its rate and the time that is left. It goes from the terminal when it is dropped.
#[derive(Debug)]
pub struct Bar {
    bar: ProgressBar,
    is_shown: bool,
}

impl Bar {
    /// A bar of octets that is drawn only if `is_shown`.
    pub fn new(what: &'static str, is_shown: bool) -> Self {
        Self::with(what, is_shown, time::size)
    }

    /// A bar of mails.
    pub fn of_mails(what: &'static str, is_shown: bool) -> Self {
        Self::with(what, is_shown, |count| count.to_string())
    }

    fn with(what: &'static str, is_shown: bool, shown: fn(u64) -> String) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden()).with_message(what);
        // The template is a constant; the built-in style stands in for one that does not read.
        let style = ProgressStyle::with_template(TEMPLATE).unwrap_or_else(|_| ProgressStyle::default_bar());
        let key = move |value: fn(&ProgressState) -> u64| {
            move |state: &ProgressState, line: &mut dyn Write| {
                // Writing to the text of a line does not fail.
                let _ = line.write_str(&shown(value(state)));
            }
        };
        let style = style.with_key("done", key(ProgressState::pos)).with_key("rate", key(per_second));
        bar.set_style(style.with_key("all", key(|state| state.len().unwrap_or_default())));
        Self { bar, is_shown }
    }

    /// `done` of `all` are done.
    pub fn set(&self, done: u64, all: u64) {
        if !self.is_shown {
            return;
        }
        if self.bar.is_hidden() && self.bar.elapsed() >= SHOW_AFTER {
            self.bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(DRAWS_PER_SECOND));
        }
        self.bar.set_length(all);
        self.bar.set_position(done);
    }
}

/// The average since the beginning.
fn per_second(state: &ProgressState) -> u64 {
    let millis = u64::try_from(state.elapsed().as_millis()).unwrap_or(u64::MAX).max(1);
    state.pos().saturating_mul(1_000) / millis
}

/// Shows that the program waits. It goes from the terminal when it is dropped.
#[derive(Debug)]
pub struct Spinner(ProgressBar);

impl Spinner {
    /// A spinner that is drawn only if `is_shown`.
    pub fn new(what: String, is_shown: bool) -> Self {
        let target =
            if is_shown { ProgressDrawTarget::stderr_with_hz(DRAWS_PER_SECOND) } else { ProgressDrawTarget::hidden() };
        let spinner = ProgressBar::with_draw_target(None, target).with_message(what);
        let style = ProgressStyle::with_template("{spinner} {msg} {elapsed}");
        spinner.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
        if is_shown {
            spinner.enable_steady_tick(TICK_EVERY);
        }
        Self(spinner)
    }
}

impl Drop for Spinner {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
