//! The short help of each command. The long help is what the manual pages have.

use super::Transcript;
use crate::support::command::tempmail;

/// The columns of a terminal.
const COLUMNS: &str = "80";

/// The snapshots: the program as a whole, and a file per command with its verbs.
pub(super) fn names() -> impl Iterator<Item = String> {
    let tree = ::tempmail::cli::command();
    let commands: Vec<String> = tree.get_subcommands().map(|command| format!("help_{}", command.get_name())).collect();
    commands.into_iter().chain(["help".to_owned()])
}

#[test]
fn the_short_help() {
    let tree = ::tempmail::cli::command();
    let mut whole = Transcript::default();
    add(&mut whole, &["-h"]);
    whole.check("help");
    for noun in tree.get_subcommands() {
        let mut transcript = Transcript::default();
        add(&mut transcript, &[noun.get_name(), "-h"]);
        for verb in noun.get_subcommands() {
            add(&mut transcript, &[noun.get_name(), verb.get_name(), "-h"]);
        }
        transcript.check(&format!("help_{}", noun.get_name()));
    }
}

/// The flags that every command has are in one snapshot only, that of the program.
fn add(transcript: &mut Transcript, args: &[&str]) {
    let mut outcome =
        crate::support::command::Outcome::from(tempmail().env("COLUMNS", COLUMNS).args(args).output().expect("run"));
    if let ([_, _, ..], Some((own, rest))) = (args, outcome.stdout.split_once("\nGlobal options:\n")) {
        let examples = rest.split_once("\n\n").map_or("", |(_, examples)| examples);
        outcome.stdout = format!("{own}\n{examples}");
    }
    transcript.add(args, &outcome);
}
