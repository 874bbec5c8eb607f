//! The command tree as help, manual pages and completions show it.

use std::fmt::Write as _;

use clap::CommandFactory;

use super::Cli;

/// The commands by what they are for; every command is in one group.
const GROUPS: [(&str, &[&str]); 5] = [
    ("Service", &["serve", "status", "stop", "doctor", "config", "token", "db"]),
    (
        "Mail",
        &[
            "new",
            "address",
            "inbox",
            "read",
            "open",
            "wait",
            "expect",
            "watch",
            "delete",
            "send-test",
            "sendmail",
            "fault",
            "mcp",
        ],
    ),
    ("Domains", &["domain"]),
    ("Webhooks", &["webhook"]),
    ("Shell", &["completions", "man", "help"]),
];

/// The columns of help where no terminal tells.
const WIDTH_DEFAULT: u16 = 100;
/// The columns that the lists of the groups take.
const GROUPS_WIDTH: u16 = 80;

/// Examples of the program as a whole.
pub(super) const ROOT: &str = "\
Examples:
  tempmail serve                              start the service on this machine
  tempmail send-test hello@example.test       send it a mail
  tempmail inbox hello@example.test           list what arrived
  tempmail read hello@example.test --latest   read the newest
  tempmail wait hello@example.test            wait for one and read it
  code=$(tempmail wait hello@example.test --code)
  tempmail expect hello@example.test --code   check that one comes with a code
  tempmail inbox hello@example.test --json | jq -r '.emails[0].subject'
  tempmail --server https://mail.example.org inbox hello@example.org

Guides (tempmail help GUIDE):
  testing http webhooks smtp commands operate domains cluster agents
  reference development changelog

Topics (tempmail help TOPIC):
  exit-codes environment formats

Exit codes:
  0 done   1 failure   2 bad argument   3 not found   4 not allowed   5 conflict
  6 not reachable   7 too many requests   8 a check says no
  75 port or data taken   78 bad configuration   124 timed out
  130 interrupted   143 terminated
  sendmail: 64, 65, 67, 69 and 75 as in sysexits";

/// What a new user needs first.
pub(super) const FIRST_STEPS: &str = "\
Disposable mail in one binary. Five commands to begin with:

  tempmail serve                              start the service on this machine
  tempmail send-test hello@example.test       send it a mail
  tempmail inbox hello@example.test           list what arrived
  tempmail read hello@example.test --latest   read the newest
  tempmail wait hello@example.test            wait for a mail and read it

`tempmail --help` lists all commands, `tempmail help commands` is the guide.
";

/// The command tree, with the commands of the root help in groups.
pub fn command() -> clap::Command {
    let listing = listing(&Cli::command());
    let header = clap::builder::Styles::styled().get_header().to_owned();
    Cli::command()
        .help_template(format!(
            "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{listing}{header}Options:{header:#}\n{{options}}{{after-help}}"
        ))
}

/// The command tree for a terminal of so many columns, without a bound for 0. A narrow one breaks the list of commands, which
/// then has no groups.
pub(super) fn for_width(columns: Option<u16>) -> clap::Command {
    let columns = columns.unwrap_or(WIDTH_DEFAULT);
    let tree = if (1..GROUPS_WIDTH).contains(&columns) { Cli::command() } else { command() };
    tree.term_width(columns.into())
}

fn listing(command: &clap::Command) -> String {
    let header = clap::builder::Styles::styled().get_header().to_owned();
    let literal = clap::builder::Styles::styled().get_literal().to_owned();
    let width = command.get_subcommands().map(|sub| sub.get_name().len()).max().unwrap_or(0);
    let mut text = String::new();
    // Writing to a String does not fail.
    for (group, names) in GROUPS {
        let _ = writeln!(text, "{header}{group}:{header:#}");
        for name in names {
            let about = command.find_subcommand(name).and_then(|sub| sub.get_about()).map(ToString::to_string);
            let _ = writeln!(text, "  {literal}{name:width$}{literal:#}  {}", about.unwrap_or_default());
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walk(command: &clap::Command, visit: &mut dyn FnMut(&clap::Command)) {
        visit(command);
        command.get_subcommands().filter(|sub| !sub.is_hide_set()).for_each(|sub| walk(sub, visit));
    }

    #[test]
    fn the_tree_is_sound() {
        command().debug_assert();
    }

    #[test]
    fn every_command_is_in_one_group() {
        let tree = Cli::command();
        let shown = tree.get_subcommands().filter(|sub| !sub.is_hide_set());
        let mut there: Vec<&str> = shown.map(clap::Command::get_name).collect();
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        there.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(grouped, there);
    }

    #[test]
    fn every_help_has_examples_and_every_argument_a_description() {
        walk(&command(), &mut |command| {
            let name = command.get_name();
            let examples = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(examples.contains("Examples:\n  tempmail"), "{name} has no examples");
            assert!(command.get_about().is_some(), "{name} has no description");
            for argument in command.get_arguments().filter(|argument| !argument.is_hide_set()) {
                assert!(argument.get_help().is_some(), "{name} {} has no description", argument.get_id());
            }
        });
    }

    /// An example that a terminal breaks is two commands where it is pasted.
    #[test]
    fn the_root_help_and_every_example_fit_a_terminal() {
        const COLUMNS: usize = 80;
        let root = command().term_width(COLUMNS).render_help().to_string();
        let mut lines: Vec<String> = root.lines().map(str::to_owned).collect();
        walk(&command(), &mut |command| {
            let examples = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            lines.extend(examples.lines().map(str::to_owned));
        });
        for line in lines {
            assert!(line.chars().count() <= COLUMNS, "{line}");
        }
    }

    #[test]
    fn a_narrow_terminal_breaks_the_list_of_commands() {
        let help = for_width(Some(40)).render_help().to_string();
        let (_, list) = help.split_once("Commands:\n").expect("the list");
        let (list, _) = list.split_once("\n\n").expect("its end");
        assert!(list.lines().count() > 30 && list.lines().all(|line| line.chars().count() <= 40), "{list}");
        // 0 columns are no bound.
        assert!(!for_width(Some(0)).render_help().to_string().contains("Commands:\n"));
    }

    #[test]
    fn the_root_help_lists_each_command_once() {
        let help = command().render_help().to_string();
        for name in ["serve", "inbox", "domain", "man"] {
            assert_eq!(help.lines().filter(|line| line.starts_with(&format!("  {name} "))).count(), 1, "{help}");
        }
    }

    #[test]
    fn list_and_remove_have_their_short_names() {
        let tree = command();
        let domain = tree.find_subcommand("domain").expect("domain");
        assert_eq!(domain.find_subcommand("ls").map(clap::Command::get_name), Some("list"));
        assert_eq!(domain.find_subcommand("rm").map(clap::Command::get_name), Some("remove"));
        let webhook = tree.find_subcommand("webhook").expect("webhook");
        assert_eq!(webhook.find_subcommand("ls").map(clap::Command::get_name), Some("list"));
        assert_eq!(webhook.find_subcommand("rm").map(clap::Command::get_name), Some("remove"));
        let token = tree.find_subcommand("token").expect("token");
        assert_eq!(token.find_subcommand("ls").map(clap::Command::get_name), Some("list"));
        assert_eq!(token.find_subcommand("rm").map(clap::Command::get_name), Some("revoke"));
    }
}
