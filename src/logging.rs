//! Log lines: structured, to stderr.

use std::env;
use std::io::{self, IsTerminal, Write};
use std::mem::take;
use std::os::fd::AsFd;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tracing::Subscriber;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::{Layer, Registry, fmt};

use crate::config::LogFormat;

/// The variable with a filter of log lines: `target=level` and `level`, separated by commas.
const RUST_LOG: &str = "RUST_LOG";
/// How long a line waits for room where the one before had some. Then lines are lost until there is room again.
const PATIENCE: Duration = Duration::from_millis(100);
/// So much a pipe takes at once that has any room (`PIPE_BUF` of Linux), in octets.
const PIECE_OCTETS: usize = 4096;

/// Sends the log of the whole process to stderr.
///
/// `verbosity` counts `-v`: 0 shows what an operator needs, 1 what helps to find a fault, 2 and more everything. With
/// `is_quiet` only warnings and errors are shown.
/// `RUST_LOG`, where it is set and valid, takes the place of it. Colour is used on a terminal unless `NO_COLOR` is set.
/// Only the first call in a process has an effect. Where nobody reads stderr, lines are lost rather than that the service
/// stands still.
pub fn init(format: LogFormat, verbosity: u8, is_quiet: bool) {
    let given = env::var(RUST_LOG).unwrap_or_default();
    let is_colour_unwanted = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let has_colour = io::stderr().is_terminal() && !is_colour_unwanted;
    // A second daemon in one process logs to the place of the first.
    let _ = tracing::subscriber::set_global_default(subscriber(
        format,
        filter(&given, verbosity, is_quiet),
        has_colour,
        Lines::to(io::stderr()),
    ));
    if given.parse::<Targets>().is_err() {
        tracing::warn!("RUST_LOG is not valid and has no effect");
    }
}

/// The filter of log lines: `given` in the syntax of `RUST_LOG`, or else the filter for `verbosity`.
fn filter(given: &str, verbosity: u8, is_quiet: bool) -> Targets {
    let by_verbosity = match verbosity {
        // The driver of the cluster warns of what is meant so, and of each node that it cannot reach.
        _ if is_quiet => "warn,scylla=error",
        0 => "warn,scylla=error,tempmail=info",
        1 => "info,scylla=warn,tempmail=debug",
        _ => "debug,tempmail=trace",
    };
    let given = Some(given).filter(|given| !given.is_empty());
    given.and_then(|given| given.parse().ok()).unwrap_or_else(|| by_verbosity.parse().unwrap_or_default())
}

fn subscriber<W>(format: LogFormat, filter: Targets, has_colour: bool, writer: W) -> Box<dyn Subscriber + Send + Sync>
where
    W: for<'w> MakeWriter<'w> + Send + Sync + 'static,
{
    let lines = fmt::layer().with_writer(writer).with_ansi(has_colour);
    match format {
        LogFormat::Text => Box::new(Registry::default().with(lines.with_target(false).with_filter(filter))),
        LogFormat::Json => {
            let lines = lines.json().flatten_event(true).with_current_span(false);
            Box::new(Registry::default().with(lines.with_filter(filter)))
        }
    }
}

/// Writes lines as long as somebody makes room for them, and counts those that are lost.
struct Lines<W>(Mutex<Output<W>>);

struct Output<W> {
    file: W,
    lost: u64,
    /// Whether the last line of the file is the beginning of one that was lost.
    is_cut: bool,
}

impl<W> Lines<W> {
    const fn to(file: W) -> Self {
        Self(Mutex::new(Output { file, lost: 0, is_cut: false }))
    }
}

impl<W: Write + AsFd> Output<W> {
    /// Writes a line, unless it is lost. Returns how many were lost before it.
    fn write(&mut self, line: &[u8]) -> u64 {
        let end_of_cut: &[u8] = if self.is_cut { b"\n" } else { b"" };
        for piece in end_of_cut.chunks(1).chain(line.chunks(PIECE_OCTETS)) {
            if !self.has_room() {
                self.lost += 1;
                return 0;
            }
            // Of what fails here nobody can be told.
            let _ = self.file.write_all(piece);
            self.is_cut = true;
        }
        self.is_cut = false;
        take(&mut self.lost)
    }

    /// Whether a piece can be written without waiting for a reader. One that has gone is not waited for either.
    fn has_room(&self) -> bool {
        let wait = if self.lost == 0 { PATIENCE } else { Duration::ZERO };
        let wait = Timespec { tv_sec: 0, tv_nsec: wait.subsec_nanos().into() };
        poll(&mut [PollFd::new(&self.file, PollFlags::OUT)], Some(&wait)).is_ok_and(|ready| ready > 0)
    }
}

impl<W: Write + AsFd> Write for &Lines<W> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let lost = self.0.lock().unwrap_or_else(PoisonError::into_inner).write(line);
        if lost > 0 {
            tracing::warn!(lines = lost, "lines of the log were lost, since nobody read them");
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'w, W: Write + AsFd + 'static> MakeWriter<'w> for Lines<W> {
    type Writer = &'w Self;

    fn make_writer(&'w self) -> Self::Writer {
        self
    }
}

#[cfg(test)]
mod tests {
    use std::io::{PipeReader, Read, pipe};
    use std::sync::Arc;

    use super::*;

    #[derive(Clone, Default)]
    struct Memory(Arc<Mutex<Vec<u8>>>);

    impl Write for Memory {
        fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
            self.0.lock().expect("lock").write(octets)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// What is logged while `log` runs.
    fn logged(format: LogFormat, given: &str, verbosity: u8, has_colour: bool, log: impl FnOnce()) -> String {
        let lines = Memory::default();
        let writer = lines.clone();
        let subscriber = subscriber(format, filter(given, verbosity, false), has_colour, move || writer.clone());
        tracing::subscriber::with_default(subscriber, log);
        String::from_utf8(lines.0.lock().expect("lock").clone()).expect("UTF-8")
    }

    fn a_line_of_each_level() {
        tracing::warn!(target: "other", "other-warn");
        tracing::info!(target: "other", "other-info");
        tracing::info!(target: "tempmail::x", "own-info");
        tracing::debug!(target: "tempmail::x", "own-debug");
        tracing::debug!(target: "tempmail_intake::x", "intake-debug");
        tracing::trace!(target: "tempmail::x", "own-trace");
    }

    #[test]
    fn each_v_shows_more_and_rust_log_wins() {
        for (given, verbosity, shown) in [
            ("", 0, &["other-warn", "own-info"][..]),
            ("", 1, &["other-warn", "other-info", "own-info", "own-debug", "intake-debug"]),
            ("", 2, &["other-warn", "other-info", "own-info", "own-debug", "intake-debug", "own-trace"]),
            ("", 255, &["other-warn", "other-info", "own-info", "own-debug", "intake-debug", "own-trace"]),
            ("other=info", 2, &["other-warn", "other-info"]),
            ("tempmail=loud", 0, &["other-warn", "own-info"]),
        ] {
            let text = logged(LogFormat::Text, given, verbosity, false, a_line_of_each_level);
            let words: Vec<_> = text.lines().filter_map(|line| line.split(' ').next_back()).collect();
            assert_eq!(words, shown, "{given} {verbosity}");
        }
    }

    #[test]
    fn a_json_line_is_one_object_with_its_fields() {
        let text = logged(LogFormat::Json, "", 0, false, || tracing::info!(port = 25, "listening\nhere"));
        let value: serde_json::Value = serde_json::from_str(text.trim_end()).expect("one object");
        assert_eq!(
            (&value["port"], &value["message"], &value["level"]),
            (&25.into(), &"listening\nhere".into(), &"INFO".into())
        );
        assert_eq!(text.lines().count(), 1);
    }

    #[test]
    fn colour_is_there_only_when_asked_for() {
        let log = || tracing::info!("a line");
        assert!(!logged(LogFormat::Text, "", 0, false, log).contains('\x1b'));
        assert!(logged(LogFormat::Text, "", 0, true, log).contains('\x1b'));
    }

    /// What is in a pipe, as text.
    fn drained(from: &mut PipeReader) -> String {
        rustix::fs::fcntl_setfl(&*from, rustix::fs::OFlags::NONBLOCK).expect("a reader that does not wait");
        let mut octets = Vec::new();
        from.read_to_end(&mut octets).expect_err("no end");
        String::from_utf8(octets).expect("UTF-8")
    }

    #[test]
    fn what_nobody_reads_is_lost_and_the_next_line_is_whole() {
        let (mut reader, writer) = pipe().expect("a pipe");
        let subscriber = subscriber(LogFormat::Json, filter("", 0, false), false, Lines::to(writer));
        tracing::subscriber::with_default(subscriber, || {
            // Of the 16 pages of a pipe a line takes three, so that the sixth is cut.
            let long = "x".repeat(2 * PIECE_OCTETS);
            for _ in 0..100 {
                tracing::info!(long, "unread");
            }
            let unread = drained(&mut reader);
            assert_eq!((unread.matches("{\"").count(), unread.lines().count(), unread.ends_with('x')), (6, 6, true));
            tracing::info!("read");
            let read = drained(&mut reader);
            assert!(read.starts_with("\n{\"") && read.ends_with("}\n") && read.contains("\"read\""), "{read}");
        });
    }

    #[test]
    fn the_lost_are_counted() {
        let (mut reader, writer) = pipe().expect("a pipe");
        let mut output = Output { file: writer, lost: 0, is_cut: false };
        // A pipe has 16 pages.
        for _ in 0..16 + 3 {
            assert_eq!(output.write(&[b'x'; PIECE_OCTETS]), 0);
        }
        drained(&mut reader);
        assert_eq!((output.write(b"x"), output.write(b"x")), (3, 0));
    }
}
