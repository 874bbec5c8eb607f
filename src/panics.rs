//! Panics: each one is logged with its place and counted by its module. The code that catches a panic decides what it costs.

use std::panic::{self, PanicHookInfo};

use crate::metrics::{IntCounterVec, Measured, MetricFamily, by_label, collect, counters};

/// The modules whose panics are counted apart.
const MODULES: [&str; 12] =
    ["client", "daemon", "dns", "domains", "expiry", "http", "mime", "reader", "smtp", "store", "webhook", ELSEWHERE];
/// Other modules and dependencies.
const ELSEWHERE: &str = "elsewhere";

/// The path of this file. The paths of the other modules begin with its directory.
const HERE: &str = file!();

/// The number of panics. Clones share it.
#[derive(Clone, Debug)]
pub struct Panics(IntCounterVec);

impl Default for Panics {
    fn default() -> Self {
        let help = "Panics, by the module of the program in which they happened.";
        Self(counters("tempmail_panics_total", help, "module", MODULES))
    }
}

/// Which of [`MODULES`] it is, by the path of its source.
fn module_at(file: &str) -> &'static str {
    let within = HERE.strip_suffix("panics.rs").and_then(|root| file.strip_prefix(root));
    let name = within.and_then(|path| path.split(['/', '\\', '.']).next());
    MODULES.into_iter().find(|module| Some(*module) == name).unwrap_or(ELSEWHERE)
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
        let module = info.location().map_or(ELSEWHERE, |location| module_at(location.file()));
        self.0.with_label_values(&[module]).inc();
        let place = info.location().map(ToString::to_string).unwrap_or_default();
        let thread = std::thread::current();
        tracing::error!(place, thread = thread.name().unwrap_or_default(), "a panic");
        tracing::debug!(place, says = info.payload_as_str().unwrap_or_default(), "what the panic says");
    }

    /// How many there were since the start.
    pub fn count(&self) -> u64 {
        by_label(&self.0).values().sum()
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
    fn a_module_is_known_by_the_path_of_its_source() {
        let root = HERE.strip_suffix("panics.rs").expect("this file");
        for (file, module) in [
            ("smtp/session/transaction.rs", "smtp"),
            ("store/mod.rs", "store"),
            ("expiry.rs", "expiry"),
            ("panics.rs", "elsewhere"),
            ("main.rs", "elsewhere"),
        ] {
            assert_eq!(module_at(&format!("{root}{file}")), module, "{file}");
        }
        for file in ["/registry/redb-4.4.0/src/store/mod.rs", "/rustc/abc/library/core/src/option.rs", ""] {
            assert_eq!(module_at(file), "elsewhere", "{file}");
        }
        let sources = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        for module in &MODULES[..MODULES.len() - 1] {
            assert!(sources.join(module).is_dir() || sources.join(format!("{module}.rs")).is_file(), "{module}");
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
