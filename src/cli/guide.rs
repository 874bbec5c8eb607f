//! `tempmail help`: the guides of `man/guide`, topics made of their sections, and the help of each command.

use super::{Context, context, help};
use crate::config::{Setting, settings};
use crate::error::Error;

/// The guides with their Markdown, in the order in which they are listed.
const GUIDES: [(&str, &str); 12] = [
    ("testing", include_str!("../../man/guide/testing.md")),
    ("http", include_str!("../../man/guide/http.md")),
    ("webhooks", include_str!("../../man/guide/webhooks.md")),
    ("smtp", include_str!("../../man/guide/smtp.md")),
    ("commands", include_str!("../../man/guide/commands.md")),
    ("operate", include_str!("../../man/guide/operate.md")),
    ("domains", include_str!("../../man/guide/domains.md")),
    ("cluster", include_str!("../../man/guide/cluster.md")),
    ("agents", include_str!("../../man/guide/agents.md")),
    ("reference", include_str!("../../man/guide/reference.md")),
    ("development", include_str!("../../man/guide/development.md")),
    ("changelog", include_str!("../../man/guide/changelog.md")),
];

/// The topics, each with the guides and headings of its sections.
const TOPICS: [(&str, &[(&str, &str)]); 3] = [
    ("exit-codes", &[("reference", "Exit codes")]),
    (
        ENVIRONMENT,
        &[
            ("reference", "How to set a value"),
            ("reference", "The configuration file"),
            ("commands", "Where a command is carried out"),
        ],
    ),
    ("formats", &[("commands", "Output"), ("commands", "Ids")]),
];
/// The topic that ends with the variables of the settings.
const ENVIRONMENT: &str = "environment";

/// Print a guide, a topic, or the help of a command
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  tempmail help reference
  tempmail help exit-codes
  tempmail help domain add
  tempmail help http > http.md")]
pub(super) struct Help {
    /// The name of a guide or topic, or a command such as `domain add`
    #[arg(value_name = "GUIDE|TOPIC|COMMAND")]
    words: Vec<String>,
}

impl Help {
    pub(super) fn run(self, cx: &Context) -> Result<(), Error> {
        match self.words.as_slice() {
            [name] if let Some(text) = guide(name) => show(text, cx),
            [name] if let Some(text) = topic(name) => show(&text, cx),
            words => cx.print(of_command(words, cx)?),
        }
    }
}

/// The names of the guides.
pub(super) fn guides() -> impl Iterator<Item = &'static str> {
    GUIDES.iter().map(|&(name, _)| name)
}

/// The names of the topics.
pub(super) fn topics() -> impl Iterator<Item = &'static str> {
    TOPICS.iter().map(|&(name, _)| name)
}

/// The Markdown of a guide.
fn guide(name: &str) -> Option<&'static str> {
    GUIDES.iter().find(|(guide, _)| *guide == name).map(|&(_, text)| text)
}

/// The Markdown of a topic.
fn topic(name: &str) -> Option<String> {
    let (_, sections) = TOPICS.iter().find(|(topic, _)| *topic == name)?;
    let sections = sections.iter().filter_map(|(name, heading)| section(guide(name)?, heading));
    let text = sections.collect::<Vec<_>>().join("\n");
    Some(if name == ENVIRONMENT { text + &variables() } else { text })
}

/// A section of a guide with its heading.
fn section<'g>(guide: &'g str, heading: &str) -> Option<&'g str> {
    let start = guide.find(&format!("\n## {heading}\n"))? + 1;
    let rest = &guide[start..];
    Some(rest.find("\n## ").map_or(rest, |end| &rest[..=end]))
}

/// The variable of each setting.
fn variables() -> String {
    let item = |setting: &Setting| format!("- `{}`: {}", setting.variable(), setting.help.replace('*', "\\*"));
    let items: Vec<String> = settings().map(item).collect();
    format!("\n## Variables of the settings\n\n{}\n", items.join("\n"))
}

/// On a terminal a guide goes through the pager.
fn show(text: &str, cx: &Context) -> Result<(), Error> {
    if cx.style.is_terminal { cx.page(text) } else { cx.print(text) }
}

/// What `--help` prints for the command that `words` name.
fn of_command(words: &[String], cx: &Context) -> Result<String, Error> {
    let mut tree = help::for_width(context::width(&cx.env, &cx.streams));
    tree.build();
    let mut command = &mut tree;
    for word in words {
        command = command.find_subcommand_mut(word).ok_or_else(|| unknown(words))?;
    }
    let help = command.render_long_help();
    Ok(if cx.style.is_colored { help.ansi().to_string() } else { help.to_string() })
}

fn unknown(words: &[String]) -> Error {
    let message = format!("there is no command and no guide '{}'", words.join(" "));
    let guides = guides().collect::<Vec<_>>().join(", ");
    let topics = topics().collect::<Vec<_>>().join(", ");
    Error::usage(message).hint(format!("the guides are {guides}, the topics {topics}"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_file_of_the_guides_is_a_guide() {
        let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("man/guide");
        let file = |entry: std::io::Result<std::fs::DirEntry>| entry.expect("an entry").file_name();
        let files = std::fs::read_dir(dir).expect("the directory").map(file);
        // Pictures stand beside the guides.
        let files: BTreeSet<String> =
            files.filter_map(|name| Some(name.to_str()?.strip_suffix(".md")?.to_owned())).collect();
        assert_eq!(files, GUIDES.iter().map(|&(name, _)| name.to_owned()).collect());
    }

    #[test]
    fn the_root_help_names_every_guide_and_topic() {
        let help = super::super::command().term_width(80).render_help().to_string();
        let listed = |heading: &str| -> Vec<String> {
            let (_, listed) = help.split_once(heading).expect("the list");
            let (listed, _) = listed.split_once("\n\n").expect("its end");
            listed.split_whitespace().map(str::to_owned).collect()
        };
        assert_eq!(listed("Guides (tempmail help GUIDE):\n"), guides().collect::<Vec<_>>());
        assert_eq!(listed("Topics (tempmail help TOPIC):\n"), topics().collect::<Vec<_>>());
    }

    #[test]
    fn no_guide_has_the_name_of_a_command() {
        let tree = super::super::command();
        for name in guides().chain(topics()) {
            assert!(tree.find_subcommand(name).is_none(), "{name}");
        }
    }

    #[test]
    fn each_topic_has_all_of_its_sections() {
        for (name, sections) in TOPICS {
            let text = topic(name).expect("a topic");
            for (_, heading) in sections {
                assert!(text.contains(&format!("## {heading}\n")), "{heading} in {name}");
            }
            let count = sections.len() + usize::from(name == ENVIRONMENT);
            assert_eq!(text.matches("\n## ").count() + 1, count, "{name}");
        }
        assert!(topic("nothing").is_none());
    }

    #[test]
    fn the_environment_has_the_variable_of_each_setting() {
        let text = topic(ENVIRONMENT).expect("a topic");
        assert!(settings().all(|setting| text.contains(&format!("\n- `{}`: ", setting.variable()))), "{text}");
        assert!(!text.contains("$0"), "{text}");
    }
}
