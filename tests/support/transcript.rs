//! What users see: each change of it is a visible change of a file of snapshots.
//!
//! A snapshot is a transcript of several commands. What differs between two runs, such as ids and ports, is replaced by
//! something of the same width.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;

use insta::{Settings, assert_snapshot};
use regex::Regex;

use super::command::Outcome;
use super::program::{local, terminal_command};
use super::{files, terminal};

/// The columns of the terminals that lists are shown on.
pub(crate) const WIDTHS: [u16; 3] = [60, 80, 120];
const FORMS: [&str; 4] = ["tsv", "json", "ndjson", "id"];

/// What is different in each run, and what a snapshot has instead.
static REPLACED: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    let pairs = [
        (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "00000000-0000-0000-0000-000000000000"),
        (r"(?m)^[0-9a-f]{8}  ", "00000000  "),
        // The ids of tokens.
        (r"\b[0-9a-f]{16}\b", "0000000000000000"),
        (r"(?m)  [0-9a-f]{8}$", "  00000000"),
        (r"\(process [0-9]+\)", "(process 1)"),
        (r"(durationMillis|diskOctets)(\t|\W: ?)[0-9]+", "${1}${2}0"),
        // How large the files of a store are is nobody's promise.
        (r"(diskOctets +)[0-9.]+ MB", "${1}3 MB"),
        (r"127\.0\.0\.1:[0-9]{5}", "127.0.0.1:00000"),
        // The clock of the daemon stands still, that of the commands does not.
        (r"[0-9]{4} d ago", "1000 d ago"),
        (r"in [0-9]{4} d", "in 1000 d"),
        (r"try again in [0-9]+ s", "try again in 60 s"),
        (r"/tmp/\.tmp[A-Za-z0-9]{6}", "/directory"),
        // 10,000 characters, which `mails` sends.
        (r"(0123456789 abcdefgh ?){500}", "<10,000 characters>"),
        // What `doctor` finds out about the machine.
        (r"(?m)^\w+ +(space|disk|clock|open-files|resolver) .*\n( {10}.*\n)*", ""),
    ];
    pairs.map(|(pattern, instead)| (Regex::new(pattern).expect(pattern), instead)).into()
});

/// `text` without what differs between two runs.
pub(crate) fn replaced(text: &str) -> String {
    let replace = |text: String, (pattern, instead): &(Regex, &str)| pattern.replace_all(&text, *instead).into_owned();
    REPLACED.iter().fold(text.to_owned(), replace)
}

/// Commands with what they printed.
#[derive(Default)]
pub(crate) struct Transcript(String);

impl Transcript {
    /// The same command at each width and in each form.
    pub(crate) fn of_each_form(dir: &Path, args: &[&str]) -> Self {
        let mut transcript = Self::default();
        for width in WIDTHS {
            transcript.on_terminal(width, args, terminal_command(dir, args));
        }
        for form in FORMS {
            let args = [args, &["-o", form]].concat();
            transcript.add(&args, &local(dir, &args));
        }
        transcript
    }

    /// Adds a command that was run in a pipe.
    pub(crate) fn add(&mut self, args: &[&str], outcome: &Outcome) {
        self.typed(&quoted(args), outcome);
    }

    /// Adds a command as it is typed.
    pub(crate) fn typed(&mut self, typed: &str, outcome: &Outcome) {
        self.line(&format!("$ tempmail {typed}"));
        self.0.push_str(&outcome.stdout);
        self.0.push_str(&outcome.stderr);
        self.end(outcome.code);
    }

    /// Runs a command on a terminal of so many columns and adds it.
    pub(crate) fn on_terminal(&mut self, columns: u16, args: &[&str], command: Command) {
        let screen = terminal::on_terminal(command, columns, "");
        self.line(&format!("$ tempmail {}  # {columns} columns", quoted(args)));
        self.0.push_str(&screen.text);
        self.end(screen.code);
    }

    fn end(&mut self, code: Option<i32>) {
        match code {
            Some(0) => {}
            Some(code) => self.line(&format!("(exit code {code})")),
            None => self.0.push_str("(ended by a signal)\n"),
        }
        self.0.push('\n');
    }

    /// Adds a line.
    pub(crate) fn line(&mut self, line: &str) {
        self.0.push_str(line);
        self.0.push('\n');
    }

    /// Compares everything with the snapshot of this name in `dir`, a directory of the package.
    pub(crate) fn check(&self, dir: &str, name: &str) {
        let mut settings = Settings::clone_current();
        settings.set_snapshot_path(files::path(dir));
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        settings.bind(|| assert_snapshot!(name, replaced(&self.0)));
    }
}

/// The words as a shell needs them.
fn quoted(args: &[&str]) -> String {
    let quoted = args.iter().map(|arg| if arg.contains([' ', '*']) { format!("'{arg}'") } else { (*arg).to_owned() });
    quoted.collect::<Vec<_>>().join(" ")
}

/// A snapshot that no test compares any more would stay as it is for ever.
pub(crate) fn none_is_left_over(dir: &str, names: impl Iterator<Item = String>) {
    let stored: BTreeSet<String> = std::fs::read_dir(files::path(dir))
        .expect("the snapshots")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8"))
        .filter(|name| !name.ends_with(".snap.new"))
        .collect();
    assert_eq!(stored, names.map(|name| format!("{name}.snap")).collect());
}
