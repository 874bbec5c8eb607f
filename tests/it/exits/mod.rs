//! The exit code of each command for each cause, and what it says then.
//!
//! ```text
//! commands   every command with every cause that can come to any of them
//! cases      causes that belong to one command or a few
//! place      the daemons, files and ids that the two tables name
//! ```
//! Promise: it outlives the code below it.

mod cases;
mod commands;
mod place;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use super::screens::SNAPSHOTS;
use crate::support::command::Outcome;
use crate::support::transcript::{Transcript, replaced};
use cases::CASES;
use commands::{Cause, lines};
use place::Places;

const CASES_SNAPSHOT: &str = "errors_of_some_commands";
/// Commands at a time.
const THREADS: usize = 4;

/// The names of the snapshots.
pub(super) fn names() -> impl Iterator<Item = String> {
    Cause::ALL.into_iter().filter_map(Cause::snapshot).chain([CASES_SNAPSHOT]).map(str::to_owned)
}

/// Runs all of `jobs`, a few at a time. The outcomes are in the order of the jobs.
fn run_all<J: Sync>(jobs: &[J], run: impl Fn(&J) -> Outcome + Sync) -> Vec<Outcome> {
    let (next, outcomes) = (Mutex::new(jobs.iter().enumerate()), Mutex::new(BTreeMap::new()));
    let take = || next.lock().expect("the jobs").next();
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                while let Some((index, job)) = take() {
                    let outcome = run(job);
                    outcomes.lock().expect("the outcomes").insert(index, outcome);
                }
            });
        }
    });
    outcomes.into_inner().expect("the outcomes").into_values().collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn each_command_has_the_exit_code_of_each_cause() {
    let places = Places::start().await;
    let tested = tokio::task::spawn_blocking(move || {
        let lines = lines();
        let of = |cause: Cause| lines.iter().filter_map(move |line| Some((cause, line.typed, line.code(cause)?)));
        let jobs: Vec<_> = Cause::ALL.into_iter().flat_map(of).collect();
        let outcomes = run_all(&jobs, |(cause, typed, _)| places.caused(*cause, typed));

        let mut wrong = Vec::new();
        let mut said: BTreeMap<&str, BTreeMap<String, String>> = BTreeMap::new();
        for ((cause, typed, code), outcome) in jobs.iter().zip(&outcomes) {
            if outcome.code != Some(*code) {
                wrong.push(format!("{typed} ({cause:?}) must end with {code}: {outcome:?}"));
            }
            if let Some(name) = cause.snapshot() {
                let commands = said.entry(name).or_default().entry(error(*cause, outcome)).or_default();
                commands.extend(["$ tempmail ", *typed, "\n"]);
            }
        }
        assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
        for (name, texts) in said {
            let mut transcript = Transcript::default();
            for (text, commands) in texts {
                transcript.line(&format!("{commands}{text}"));
            }
            transcript.check(SNAPSHOTS, name);
        }
        places
    });
    drop(tested.await.expect("the codes"));
}

/// What a command says on standard error. Of a wrong flag only the first line, since the usage is in the help.
fn error(cause: Cause, outcome: &Outcome) -> String {
    let text = replaced(&outcome.stderr);
    match cause {
        Cause::Flag => text.lines().next().unwrap_or_default().to_owned() + "\n",
        // Where root does not run the tests, the other user is root.
        Cause::NotOurs => text.replace("belongs to user 0;", "belongs to user 12345;"),
        _ => text,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_cause_of_some_commands_has_its_exit_code() {
    let places = Places::start().await;
    let tested = tokio::task::spawn_blocking(move || {
        let outcomes = run_all(&CASES, |(place, typed, _)| places.run(*place, typed));
        let (mut wrong, mut transcript) = (Vec::new(), Transcript::default());
        for ((place, typed, code), outcome) in CASES.iter().zip(outcomes) {
            if outcome.code != Some(*code) {
                wrong.push(format!("{typed} ({place:?}) must end with {code}: {outcome:?}"));
            }
            transcript.typed(typed, &outcome);
        }
        assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
        transcript.check(SNAPSHOTS, CASES_SNAPSHOT);
        places
    });
    drop(tested.await.expect("the codes"));
}

/// The commands, such as `domain add`.
pub(super) fn commands() -> Vec<String> {
    let all = tempmail::cli::command();
    let shown = all.get_subcommands().filter(|noun| !noun.is_hide_set());
    let of = |noun: &clap::Command| {
        let verbs = noun.get_subcommands().map(clap::Command::get_name).filter(|verb| *verb != "help");
        let names: Vec<String> = verbs.map(|verb| format!("{} {verb}", noun.get_name())).collect();
        if names.is_empty() { vec![noun.get_name().to_owned()] } else { names }
    };
    shown.flat_map(of).collect()
}

/// The first words of all commands.
pub(super) fn nouns() -> BTreeSet<String> {
    commands().iter().filter_map(|command| command.split(' ').next()).map(str::to_owned).collect()
}

/// Whether these words call this command.
fn calls(typed: &str, command: &str) -> bool {
    typed == command || typed.strip_prefix(command).is_some_and(|rest| rest.starts_with(' '))
}

/// Every command and code that these tests run.
fn tested() -> Vec<(&'static str, i32)> {
    let lines = lines();
    let of = |cause| lines.iter().filter_map(move |line| Some((line.typed, line.code(cause)?)));
    let any = Cause::ALL.into_iter().flat_map(of);
    any.chain(CASES.map(|(_, typed, code)| (typed, code))).collect()
}

#[test]
fn each_command_has_a_line() {
    let commands = commands();
    assert!(commands.len() > 40, "{commands:?}");
    let lines = lines();
    for command in &commands {
        let own = lines.iter().filter(|line| calls(line.typed, command)).count();
        assert_eq!(own, 1, "`tempmail {command}` needs its line in tests/it/exits/commands.rs");
    }
    assert_eq!(lines.len(), commands.len(), "a line is of no command");
}

/// Pairs of command and code that tests of their own show, since they need more than a command line.
const ELSEWHERE: [(&str, i32); 6] = [
    // cli::doctor; what it prints tells of the machine.
    ("doctor", 8),
    // daemon::stopping; the second signal gives 130.
    ("serve", 0),
    ("serve", 130),
    ("serve", 143),
    // cli::private; what it says has a time.
    ("new", 5),
    // A service of revision 1.
    ("webhook", 3),
];

#[test]
fn each_pair_of_code_and_command_in_the_guide_is_tested() {
    let (guide, nouns) = (include_str!("../../../man/guide/reference.md"), nouns());
    let tested = tested();
    let rows: Vec<(i32, &str)> = guide
        .lines()
        .filter_map(|line| line.strip_prefix("- ")?.split_once(": "))
        .filter_map(|(code, row)| Some((code.parse().ok()?, row)))
        .collect();
    assert!(rows.len() > 15, "the list of exit codes: {rows:?}");
    for (code, row) in rows {
        assert!(tested.iter().any(|(_, of)| *of == code), "no command is tested that ends with {code}");
        for word in row.split('`').skip(1).step_by(2) {
            let command = word.split(' ').next().unwrap_or_default();
            if nouns.contains(command) && !ELSEWHERE.contains(&(command, code)) {
                let is_tested = tested.iter().any(|(typed, of)| *of == code && calls(typed, word));
                assert!(is_tested, "the guide says that `{word}` may end with {code}, and no test shows it");
            }
        }
    }
}
