//! `tempmail help`: the guides of `man/guide`, topics made of their sections, and the help of each command.

use super::{Context, topic};
use crate::error::{Error, Exit};

macro_rules! guides {
    ($($name:literal)*) => {
        /// Every guide's name and Markdown, in the order in which they are listed.
        const GUIDES: &[(&str, &str)] = &[$(($name, include_str!(concat!("../../man/guide/", $name, ".md")))),*];
    };
}

guides! {
    "commands" "configuration" "domains" "smtp" "http" "waiting" "test-suites" "agents" "webhooks" "operations" "cluster" "development" "changelog"
}

/// Print a guide, a topic, or the help of a command
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  tempmail help configuration
  tempmail help exit-codes
  tempmail help domain add
  tempmail help http > http.md")]
pub(super) struct Help {
    /// The name of a guide or topic, or a command such as `domain add`
    #[arg(value_name = "GUIDE|TOPIC|COMMAND")]
    words: Vec<String>,
}

impl Help {
    pub(super) fn run(self, cx: &Context) -> Result<Exit, Error> {
        match self.words.as_slice() {
            [name] if let Some(text) = find(name) => show(text, cx)?,
            [name] if let Some(text) = topic::text(name) => show(&text, cx)?,
            words => cx.print(of_command(words, cx.style.is_colored)?)?,
        }
        Ok(Exit::Ok)
    }
}

/// The guides, in the order in which they are listed.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    GUIDES.iter().map(|&(name, _)| name)
}

/// The Markdown of a guide.
pub(super) fn find(name: &str) -> Option<&'static str> {
    GUIDES.iter().find(|(guide, _)| *guide == name).map(|&(_, text)| text)
}

/// On a terminal a guide goes through the pager.
fn show(text: &str, cx: &Context) -> Result<(), Error> {
    if cx.style.is_terminal { cx.page(text) } else { cx.print(text) }
}

/// What `--help` prints for the command that `words` name.
fn of_command(words: &[String], is_colored: bool) -> Result<String, Error> {
    let mut tree = super::command();
    tree.build();
    let mut command = &mut tree;
    for word in words {
        command = command.find_subcommand_mut(word).ok_or_else(|| unknown(words))?;
    }
    let help = command.render_long_help();
    Ok(if is_colored { help.ansi().to_string() } else { help.to_string() })
}

fn unknown(words: &[String]) -> Error {
    let guides: Vec<&str> = names().collect();
    let message = format!("there is no command and no guide '{}'", words.join(" "));
    let topics = topic::names().collect::<Vec<_>>().join(", ");
    Error::usage(message).hint(format!("the guides are {}, the topics {topics}", guides.join(", ")))
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
    fn the_root_help_names_every_guide() {
        let help = super::super::command().term_width(80).render_help().to_string();
        let (_, listed) = help.split_once("Guides (tempmail help GUIDE):\n").expect("the list");
        let (listed, _) = listed.split_once("\n\n").expect("its end");
        assert_eq!(
            listed.split_whitespace().collect::<Vec<_>>(),
            GUIDES.iter().map(|guide| guide.0).collect::<Vec<_>>()
        );
    }

    #[test]
    fn no_guide_has_the_name_of_a_command() {
        let tree = super::super::command();
        for name in names().chain(topic::names()) {
            assert!(tree.find_subcommand(name).is_none(), "{name}");
        }
    }
}
