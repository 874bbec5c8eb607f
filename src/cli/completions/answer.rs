//! What `tempmail __complete LINE` prints: what may stand at the end of a command line, for the scripts of the shells.
//!
//! A line is a value, and behind a tab its description, if it has one. A line with no value but `file` or `directory` behind its
//! tab says that the shell completes the names of files or directories by itself.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::Write as _;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::Duration;

use clap::Command;
use tokio::runtime;

use super::super::{guide, topic};
use super::candidate::Candidate;
use super::cursor::{self, Wanted};
use super::kind::Kind;
use super::{line, values};

/// The command that scripts call. It stands in no help.
const NAME: &str = "__complete";
/// How long values may be looked for, so that a person does not wait.
const WITHIN: Duration = Duration::from_millis(150);

/// The command line that the script of a shell asks about, if these arguments of the program are such a question.
pub(in crate::cli) fn question(args: &[OsString]) -> Option<&OsStr> {
    match args {
        [_, name, line] if name == NAME => Some(line),
        _ => None,
    }
}

/// Answers the script of a shell, in time whatever the service does. Writes nothing to standard error, and changes nothing.
pub(in crate::cli) fn answer(line: &OsStr, tree: Command, env: &BTreeMap<String, String>) {
    let mut tree = tree.disable_help_subcommand(true);
    tree.build();
    let wanted = Arc::new(cursor::wanted(&tree, &line::words(&line.to_string_lossy(), env)));
    let mut found = wanted.fixed.clone();
    found.extend(of_help(&wanted, &tree));
    found.extend(of_service(&wanted, env).into_iter().filter(Candidate::is_plain));
    // The shell may have gone.
    let _ = std::io::stdout().lock().write_all(text(&wanted, &found).as_bytes());
}

fn text(wanted: &Wanted, found: &[Candidate]) -> String {
    let mut text = String::new();
    for candidate in found.iter().filter(|candidate| candidate.value.starts_with(&wanted.typed)) {
        text.push_str(&candidate.line(&wanted.prefix));
    }
    if wanted.kinds.contains(&Kind::File) {
        text.push_str("\tfile\n");
    } else if wanted.kinds.contains(&Kind::Directory) {
        text.push_str("\tdirectory\n");
    }
    text
}

/// What `tempmail help` takes.
fn of_help(wanted: &Wanted, tree: &Command) -> Vec<Candidate> {
    let mut found = Vec::new();
    if wanted.kinds.contains(&Kind::Command) {
        let mut path = wanted.operands.iter();
        let command = path.try_fold(tree, |command, word| command.find_subcommand(word));
        found.extend(command.into_iter().flat_map(cursor::commands));
    }
    if wanted.operands.is_empty() {
        let named = |name: &str, what| Candidate::new(name, what);
        if wanted.kinds.contains(&Kind::Guide) {
            found.extend(guide::names().map(|name| named(name, "guide")));
        }
        if wanted.kinds.contains(&Kind::Topic) {
            found.extend(topic::names().map(|name| named(name, "topic")));
        }
    }
    found
}

/// What the service knows, unless it takes too long.
///
/// A thread looks it up, because nothing else ends a read of a file that is a pipe, or the search for a host.
fn of_service(wanted: &Arc<Wanted>, env: &BTreeMap<String, String>) -> Vec<Candidate> {
    let (send, found) = sync_channel(1);
    let (wanted, env) = (Arc::clone(wanted), env.clone());
    let looking = thread::Builder::new().spawn(move || {
        let Ok(runtime) = runtime::Builder::new_current_thread().enable_all().build() else { return };
        // The answer may come too late.
        let _ = send.send(runtime.block_on(values::look_up(&wanted, &env)));
    });
    looking.ok().and_then(|_| found.recv_timeout(WITHIN).ok()).unwrap_or_default()
}
