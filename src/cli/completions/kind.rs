//! Which argument takes which values.

use clap::Arg;

use super::candidate::Candidate;

/// What the values of an argument are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Address,
    Command,
    Directory,
    Domain,
    Event,
    File,
    Guide,
    Mail,
    Topic,
    Webhook,
}

/// The path of a command, the name of a value in its help, and the kind of that value. A row also holds for subcommands, and
/// an empty path for every command. The first row that fits counts.
const KINDS: &[(&str, &str, Kind)] = &[
    ("webhook", "ID", Kind::Webhook),
    ("webhook", "EVENT", Kind::Event),
    ("", "ID", Kind::Mail),
    ("", "ADDR", Kind::Address),
    ("", "RCPT", Kind::Address),
    ("", "DOMAIN", Kind::Domain),
    ("", "FILE", Kind::File),
    ("", "PATH", Kind::File),
    ("", "DIR", Kind::Directory),
    ("", "GUIDE", Kind::Guide),
    ("", "TOPIC", Kind::Topic),
    ("", "COMMAND", Kind::Command),
];

/// The values of an argument: those that are fixed, and the kinds of the others.
#[derive(Debug, Default)]
pub(super) struct Values {
    pub(super) fixed: Vec<Candidate>,
    pub(super) kinds: Vec<Kind>,
}

/// The values of an argument of the command at `path`, such as `domain add`.
///
/// A help that says `now|DURATION|ID` takes the word in lower case as it is.
pub(super) fn values(path: &str, arg: &Arg) -> Values {
    let possible = arg.get_possible_values();
    if !possible.is_empty() {
        let shown = possible.iter().filter(|value| !value.is_hide_set());
        let candidate = |value: &clap::builder::PossibleValue| {
            Candidate::new(value.get_name(), value.get_help().map(ToString::to_string).unwrap_or_default())
        };
        return Values { fixed: shown.map(candidate).collect(), kinds: Vec::new() };
    }
    let names =
        arg.get_value_names().unwrap_or_default().iter().flat_map(|name| name.split(['|', ','])).collect::<Vec<_>>();
    let is_word = |name: &&str| {
        name.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit())
            && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
    };
    let words = names.iter().copied().filter(is_word);
    let mut kinds: Vec<Kind> = names.iter().filter_map(|name| kind(path, name)).collect();
    kinds.dedup();
    Values { fixed: words.map(|word| Candidate::new(word, "")).collect(), kinds }
}

fn kind(path: &str, name: &str) -> Option<Kind> {
    let is_below = |command: &str| {
        command.is_empty() || path.strip_prefix(command).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    };
    KINDS.iter().find(|(command, known, _)| is_below(command) && *known == name).map(|&(_, _, kind)| kind)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::{Command, ValueHint};

    use super::*;

    /// Every command's path with each of its arguments.
    fn walk<'c>(command: &'c Command, path: &str, visit: &mut dyn FnMut(&str, &'c Arg)) {
        command.get_arguments().for_each(|arg| visit(path, arg));
        for below in command.get_subcommands() {
            walk(below, format!("{path} {}", below.get_name()).trim_start(), visit);
        }
    }

    #[test]
    fn each_kind_has_an_argument() {
        let tree = crate::cli::command();
        let mut seen = BTreeSet::new();
        walk(&tree, "", &mut |path, arg| seen.extend(values(path, arg).kinds.iter().map(|kind| format!("{kind:?}"))));
        let listed: BTreeSet<_> = KINDS.iter().map(|(_, _, kind)| format!("{kind:?}")).collect();
        assert_eq!(seen, listed);
    }

    #[test]
    fn what_is_a_path_completes_as_one() {
        walk(&crate::cli::command(), "", &mut |path, arg| {
            if arg.get_value_hint() == ValueHint::AnyPath {
                let kinds = values(path, arg).kinds;
                assert!(matches!(kinds[..], [Kind::File | Kind::Directory]), "{path} {}: {kinds:?}", arg.get_id());
            }
        });
    }
}
