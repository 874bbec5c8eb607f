//! Panics: each one is logged with its place and counted. The code that catches a panic decides what it costs.

use std::panic::{self, PanicHookInfo};

use crate::metrics::{IntCounter, Measured, MetricFamily, collect, counter};

/// The number of panics. Clones share it.
#[derive(Clone, Debug)]
pub struct Panics(IntCounter);

impl Default for Panics {
    fn default() -> Self {
        Self(counter("tempmail_panics_total", "Panics of the program; the log has the place of each."))
    }
}

impl Panics {
    /// Logs and counts every panic of this process from now on, in every thread, even if it is caught.
    ///
    /// The hook belongs to the process, as the log does. It replaces the hook that was set before.
    pub fn watch() -> Self {
        let panics = Self::default();
        let counted = panics.clone();
        panic::set_hook(Box::new(move |info| counted.record(info)));
        panics
    }

    /// Counts a panic and logs its place. The panic's message may quote mail, so it is logged only at the level debug.
    pub fn record(&self, info: &PanicHookInfo<'_>) {
        self.0.inc();
        let place = info.location().map(ToString::to_string).unwrap_or_default();
        let thread = std::thread::current();
        tracing::error!(place, thread = thread.name().unwrap_or_default(), "a panic");
        tracing::debug!(place, says = info.payload_as_str().unwrap_or_default(), "what the panic says");
    }

    /// How many there were since the start.
    pub fn count(&self) -> u64 {
        self.0.get()
    }
}

impl Measured for Panics {
    fn metrics(&self) -> Vec<MetricFamily> {
        collect(&[&self.0])
    }
}

#[cfg(test)]
mod tests {
    use std::io::{self, Write};
    use std::sync::{Arc, Mutex};

    use super::*;

    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<u8>>>);

    impl Write for Lines {
        fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
            self.0.lock().expect("lock").write(octets)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_panic_is_counted_and_logged_with_its_place_and_not_with_what_it_quotes() {
        let lines = Lines::default();
        let writer = lines.clone();
        let log = tracing_subscriber::fmt().with_ansi(false).with_writer(move || writer.clone()).finish();
        let (panics, before) = (Panics::default(), panic::take_hook());
        let recorded = panics.clone();
        panic::set_hook(Box::new(move |info| {
            recorded.record(info);
            before(info);
        }));
        tracing::subscriber::with_default(log, || {
            panic::catch_unwind(|| panic!("a secret")).expect_err("a panic");
        });
        assert!(panics.count() >= 1);
        let text = String::from_utf8(lines.0.lock().expect("lock").clone()).expect("UTF-8");
        assert!(text.contains("a panic") && text.contains(concat!(file!(), ":")), "{text}");
        assert!(!text.contains("secret"), "{text}");
    }
}
