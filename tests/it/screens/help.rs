//! The short help of each command. The long help is what the manual pages have.
//! Promise: it outlives the code below it.

use std::path::Path;

use super::SNAPSHOTS;
use crate::exits;
use crate::support::in_process::CommandLine;
use crate::support::transcript::Transcript;

/// The snapshots: the program as a whole, and a file per command with its verbs.
pub(super) fn names() -> impl Iterator<Item = String> {
    exits::nouns().into_iter().map(|noun| format!("help_{noun}")).chain(["help".to_owned()])
}

#[test]
fn the_short_help() {
    let mut whole = Transcript::default();
    add(&mut whole, &["-h"]);
    whole.check(SNAPSHOTS, "help");
    for noun in exits::nouns() {
        let mut transcript = Transcript::default();
        for verb in add(&mut transcript, &[&noun, "-h"]) {
            add(&mut transcript, &[&noun, &verb, "-h"]);
        }
        transcript.check(SNAPSHOTS, &format!("help_{noun}"));
    }
}

/// Adds a help, which is 80 columns wide. Returns the verbs in it.
///
/// The flags that every command has are in one snapshot only, that of the program.
fn add(transcript: &mut Transcript, args: &[&str]) -> Vec<String> {
    let mut outcome = CommandLine::new(Path::new("/"), args).env("COLUMNS", "80").run();
    if let ([_, _, ..], Some((own, rest))) = (args, outcome.stdout.split_once("\nGlobal options:\n")) {
        let examples = rest.split_once("\n\n").map_or("", |(_, examples)| examples);
        outcome.stdout = format!("{own}\n{examples}");
    }
    for line in outcome.stdout.lines() {
        assert!(line.chars().count() <= 80, "{args:?}: {line}");
    }
    transcript.add(args, &outcome);
    let commands = outcome.stdout.split_once("\nCommands:\n").map_or("", |(_, commands)| commands);
    let lines = commands.lines().take_while(|line| !line.is_empty());
    // A text goes on below the first one.
    let starts = lines.filter_map(|line| line.strip_prefix("  ").filter(|line| !line.starts_with(' ')));
    starts.map(|line| line.split(' ').next().unwrap_or_default().to_owned()).collect()
}
