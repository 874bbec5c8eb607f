//! Topics of `tempmail help`: sections of the guides, and what is made from the table of settings.

use std::fmt::Write as _;

use super::guide;
use crate::config::settings;

/// A short text on one thing.
struct Topic {
    name: &'static str,
    /// A guide and the heading of a section of it, in the order in which they are shown.
    sections: &'static [(&'static str, &'static str)],
    /// What follows them.
    end: fn() -> String,
}

const TOPICS: [Topic; 3] = [
    Topic { name: "exit-codes", sections: &[("commands", "Exit codes")], end: String::new },
    Topic {
        name: "environment",
        sections: &[
            ("configuration", "How to set a value"),
            ("configuration", "The configuration file"),
            ("commands", "Flags of every command"),
        ],
        end: variables,
    },
    Topic {
        name: "formats",
        sections: &[("commands", "Output"), ("commands", "Ids"), ("commands", "Fields in a pipe")],
        end: String::new,
    },
];

/// The topics, in the order in which they are listed.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    TOPICS.iter().map(|topic| topic.name)
}

/// The Markdown of a topic.
pub(super) fn text(name: &str) -> Option<String> {
    let topic = TOPICS.iter().find(|topic| topic.name == name)?;
    let sections = topic.sections.iter().filter_map(|(name, heading)| section(guide::find(name)?, heading));
    let text = sections.collect::<Vec<_>>().join("\n") + &(topic.end)();
    Some(text)
}

/// A section of a guide with its heading.
fn section<'g>(guide: &'g str, heading: &str) -> Option<&'g str> {
    let start = guide.find(&format!("\n## {heading}\n"))? + 1;
    let rest = &guide[start..];
    Some(rest.find("\n## ").map_or(rest, |end| &rest[..=end]))
}

/// The variable of each setting.
fn variables() -> String {
    let mut text = "\n## Variables of the settings\n\n| Variable | Meaning and bounds |\n|---|---|\n".to_owned();
    for setting in settings() {
        // Writing to a String does not fail.
        let _ =
            writeln!(text, "| `{}` | {} |", setting.variable(), setting.help.replace('*', "\\*").replace('|', "\\|"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_topic_has_all_of_its_sections() {
        for topic in &TOPICS {
            let text = text(topic.name).expect("a topic");
            for (_, heading) in topic.sections {
                assert!(text.contains(&format!("## {heading}\n")), "{heading} in {}", topic.name);
            }
            assert_eq!(
                text.matches("\n## ").count() + 1,
                topic.sections.len() + usize::from(topic.name == "environment")
            );
        }
        assert!(text("nothing").is_none());
    }

    #[test]
    fn the_root_help_names_every_topic() {
        let help = super::super::command().term_width(80).render_help().to_string();
        let (_, listed) = help.split_once("Topics (tempmail help TOPIC):\n").expect("the list");
        let (listed, _) = listed.split_once("\n\n").expect("its end");
        assert_eq!(listed.split_whitespace().collect::<Vec<_>>(), names().collect::<Vec<_>>());
    }

    #[test]
    fn the_environment_has_the_variable_of_each_setting() {
        let text = text("environment").expect("a topic");
        assert!(settings().all(|setting| text.contains(&format!("\n| `{}` | ", setting.variable()))), "{text}");
        assert!(!text.contains("$0"), "{text}");
    }
}
