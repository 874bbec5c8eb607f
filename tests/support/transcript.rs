//! What users see: each change of it is a visible change of a file of snapshots.
//!
//! A snapshot is a transcript of several commands. What differs between two runs, such as ids and ports, is replaced by
//! something of the same width.

use std::collections::BTreeSet;
use std::path::Path;

use super::command::Outcome;
use super::files;
use super::in_process::CommandLine;

/// The columns of the terminals that lists are shown on.
pub(crate) const WIDTHS: [u16; 3] = [60, 80, 120];
const FORMS: [&str; 4] = ["tsv", "json", "ndjson", "id"];

/// Numbers that are different in each run: what stands before one, how many digits it has if that is known, what stands
/// behind it, and what a snapshot has in its place.
const NUMBERS: [(&str, Option<usize>, &str, &str); 12] = [
    ("(process ", None, ")", "1"),
    ("durationMillis\t", None, "", "0"),
    ("durationMillis\":", None, "", "0"),
    ("durationMillis\": ", None, "", "0"),
    // How large the files of a store are is nobody's promise.
    ("diskOctets\t", None, "", "0"),
    ("diskOctets\":", None, "", "0"),
    ("diskOctets\": ", None, "", "0"),
    ("diskOctets  ", None, " MB", "3"),
    ("127.0.0.1:", Some(5), "", "00000"),
    // The clock of the daemon stands still, that of the commands does not.
    ("", Some(4), " d ago", "1000"),
    ("in ", Some(4), " d", "1000"),
    ("try again in ", None, " s", "60"),
];
/// What `doctor` finds out about the machine.
const OF_MACHINE: [&str; 3] = ["space", "disk", "resolver"];

/// `text` without what differs between two runs.
pub(crate) fn replaced(text: &str) -> String {
    let text = NUMBERS.iter().fold(without_ids(text), |text, number| without_number(&text, *number));
    let text = without_directories(&text);
    // 10,000 characters, which `mails` sends.
    let long = "0123456789 abcdefgh ".repeat(500);
    without_machine(&text.replace(&long, "<10,000 characters>").replace(long.trim_end(), "<10,000 characters>"))
}

/// `text` with zeros in whole ids, and in their ends where a table has them.
fn without_ids(text: &str) -> String {
    let (mut done, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(first) = rest.chars().next() {
        let (id, tail) = rest.split_at(id_at(&done, rest).unwrap_or(0));
        if id.is_empty() {
            done.push(first);
            rest = &rest[first.len_utf8()..];
        } else {
            done.extend(id.chars().map(|c| if c == '-' { '-' } else { '0' }));
            rest = tail;
        }
    }
    done
}

/// The length of the id that `rest` begins with, which stands behind `before`.
fn id_at(before: &str, rest: &str) -> Option<usize> {
    let is_digit = |c: char| matches!(c, '0'..='9' | 'a'..='f');
    let is_of_word = |c: char| c.is_alphanumeric() || c == '_';
    let is_whole = |id: &&str| {
        let parts: Vec<&str> = id.split('-').collect();
        parts.iter().map(|part| part.len()).eq([8, 4, 4, 4, 12]) && parts.iter().all(|part| part.chars().all(is_digit))
    };
    if rest.get(..36).as_ref().is_some_and(is_whole) {
        return Some(36);
    }
    let (digits, tail) = rest.split_at(rest.find(|c| !is_digit(c)).unwrap_or(rest.len()));
    let is_alone = !before.ends_with(is_of_word) && !tail.starts_with(is_of_word);
    let is_first = (before.is_empty() || before.ends_with('\n')) && tail.starts_with("  ");
    let is_last = before.ends_with("  ") && (tail.is_empty() || tail.starts_with('\n'));
    // The ids of tokens have 16.
    (is_alone && (digits.len() == 16 || digits.len() == 8 && (is_first || is_last))).then_some(digits.len())
}

fn without_number(text: &str, (before, count, after, instead): (&str, Option<usize>, &str, &str)) -> String {
    let is_of_number = |c: char| c.is_ascii_digit() || count.is_none() && c == '.';
    let behind = |rest: &'_ str| {
        let number = rest.strip_prefix(before)?;
        let there = number.find(|c| !is_of_number(c)).unwrap_or(number.len());
        let wanted = count.unwrap_or(there);
        let is_one = wanted > 0 && there >= wanted && number[wanted..].starts_with(after);
        is_one.then_some(before.len() + wanted)
    };
    let (mut done, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(first) = rest.chars().next() {
        if let Some(end) = behind(rest) {
            done.push_str(before);
            done.push_str(instead);
            rest = &rest[end..];
        } else {
            done.push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    done
}

fn without_directories(text: &str) -> String {
    let text = text.replace(files::MEMORY, "/tmp");
    let mut pieces = text.split("/tmp/.tmp");
    let mut done = pieces.next().unwrap_or_default().to_owned();
    // A name of six characters follows.
    pieces.for_each(|piece| done.extend(["/directory", &piece[6..]]));
    done
}

/// `text` without the lines of `doctor` about the machine, and the lines that go on with them.
fn without_machine(text: &str) -> String {
    let mut is_of_machine = false;
    let lines = text.split_inclusive('\n').filter(|line| {
        if !(is_of_machine && line.starts_with("         ")) {
            let mut words = line.split_whitespace();
            let is_verdict = words.next().is_some_and(|word| word.chars().all(char::is_alphanumeric));
            is_of_machine =
                is_verdict && words.next().is_some_and(|word| OF_MACHINE.contains(&word.trim_end_matches(':')));
        }
        !is_of_machine
    });
    lines.collect()
}

/// Commands with what they printed.
#[derive(Default)]
pub(crate) struct Transcript(String);

impl Transcript {
    /// The same command at each width and in each form.
    pub(crate) fn of_each_form(dir: &Path, args: &[&str]) -> Self {
        let mut transcript = Self::default();
        for width in WIDTHS {
            transcript.on_terminal(width, args, CommandLine::on_data(dir, args));
        }
        for form in FORMS {
            let args = [args, &["-o", form]].concat();
            transcript.add(&args, &CommandLine::on_data(dir, &args).run());
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
    pub(crate) fn on_terminal(&mut self, columns: u16, args: &[&str], command: CommandLine) {
        let screen = command.on_terminal(columns);
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
        let path = files::path(dir).join(format!("{name}.snap"));
        let shown = format!("{}\n", replaced(&self.0).trim_end());
        let stored = std::fs::read_to_string(&path).unwrap_or_default();
        if shown != stored && std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
            return std::fs::write(path, shown).expect("a snapshot");
        }
        let differs = |(of_stored, of_shown): &(&str, &str)| of_stored != of_shown;
        let first = stored.lines().chain([""]).zip(shown.lines().chain([""])).find(differs);
        assert!(shown == stored, "{name}: {first:?}\nUPDATE_SNAPSHOTS=1 writes what is shown");
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
