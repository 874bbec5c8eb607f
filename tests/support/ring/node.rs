//! One node: its files and its process.

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;

use rustix::process::Signal;

use super::guarded::Guarded;
use super::installed::Installed;
use super::settings::{self, Handoff, Place};

/// A node, which is killed when this is dropped. Its files stay.
pub(super) struct Node {
    dir: PathBuf,
    command: Vec<OsString>,
    process: Option<Guarded>,
}

impl Node {
    /// Starts one with no data. `heap` is as `java` takes it, like `512M`.
    pub(super) fn start_new(place: Place, heap: &str, handoff: Handoff, dir: PathBuf, installed: &Installed) -> Self {
        fs::create_dir_all(dir.join(settings::TEMPORARY)).expect("directory");
        fs::write(dir.join(settings::SERVER), settings::server(&place, handoff, &dir)).expect("settings");
        fs::write(dir.join(settings::LOGGING), settings::LOGGERS).expect("settings");
        let mut command = vec![installed.java.clone().into_os_string()];
        command.extend(settings::arguments(&place, heap, &dir, &installed.jars));
        let mut node = Self { dir, command, process: None };
        node.start();
        node
    }

    /// Starts it over its files. It must have been killed.
    pub(super) fn start(&mut self) {
        assert!(self.process.is_none(), "it runs");
        self.process = Some(Guarded::start(&self.dir, &self.dir.join("output"), &self.command));
    }

    /// Ends it at once. It must run.
    pub(super) fn kill(&mut self) {
        drop(self.process.take().expect("it runs"));
    }

    /// Stops its process where it is.
    pub(super) fn pause(&self) {
        self.running().signal(Signal::STOP);
    }

    /// Lets its process go on.
    pub(super) fn resume(&self) {
        self.running().signal(Signal::CONT);
    }

    /// Whether its process has ended without being told to.
    pub(super) fn has_ended(&self) -> bool {
        self.process.as_ref().is_some_and(Guarded::has_ended)
    }

    /// The last lines of what it has printed and logged.
    pub(super) fn log(&self, lines: usize) -> String {
        let read = |name| fs::read_to_string(self.dir.join(name)).unwrap_or_default();
        let log = read("output") + &read(settings::LOG);
        let all: Vec<&str> = log.lines().collect();
        all[all.len().saturating_sub(lines)..].join("\n")
    }

    fn running(&self) -> &Guarded {
        self.process.as_ref().expect("it runs")
    }
}
