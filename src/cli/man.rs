//! `tempmail man`: the manual pages.

use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

use clap::Arg;

use super::{Context, directory};
use crate::error::{Error, Exit};

/// The name of the program.
const ROOT: &str = "tempmail";
/// What the page of a command says of the options that are not on it.
const SHARED: &str = "\n\nGlobal options:\n  See tempmail(1).\n";

/// Print the manual page, or write all pages into a directory
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  tempmail man | man -l -
  tempmail man ~/.local/share/man/man1")]
pub(super) struct Man {
    /// Write a page for every command into this directory
    #[arg(value_name = "DIR", value_parser = directory)]
    dir: Option<PathBuf>,
}

impl Man {
    pub(super) fn run(self, cx: &Context) -> Result<(), Error> {
        let command = super::command();
        if let Some(dir) = self.dir {
            let failed = |error: io::Error| Error::new(Exit::Failure, format!("{}: {error}", dir.display()));
            std::fs::create_dir_all(&dir).map_err(failed)?;
            let mut command = command.disable_help_subcommand(true);
            command.build();
            write_all(&command, &dir).map_err(failed)?;
        } else {
            cx.print(page(&command).map_err(|error| Error::new(Exit::Failure, error))?.1)?;
        }
        Ok(())
    }
}

/// Writes the page of a command and those of the commands below it.
fn write_all(command: &clap::Command, dir: &Path) -> io::Result<()> {
    for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
        write_all(below, dir)?;
    }
    let (name, text) = page(command)?;
    std::fs::write(dir.join(name), text)
}

/// The name of a command's page, and the page.
fn page(command: &clap::Command) -> io::Result<(String, Vec<u8>)> {
    let is_root = command.get_name() == ROOT;
    let mut sections = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    if !is_root {
        sections.push_str(SHARED);
    }
    // The page has the long help of every other option, and the common ones stand on the page of the program alone.
    let of_page = |arg: Arg| {
        let is_hidden = arg.is_hide_set() || (arg.is_global_set() && !is_root);
        arg.hide(is_hidden).hide_short_help(false)
    };
    // What stands behind the help has sections of its own, whose lines must stay as they are.
    let man = clap_mangen::Man::new(command.clone().mut_args(of_page).after_help(None::<&'static str>))
        .source(concat!("tempmail ", env!("CARGO_PKG_VERSION")))
        .manual("tempmail");
    let mut text = Vec::new();
    man.render(&mut text)?;
    text.extend_from_slice(as_sections(&sections).as_bytes());
    Ok((man.get_filename(), text))
}

/// `text` in roff: a line that ends with a colon is the heading of the lines behind it, which are not filled.
fn as_sections(text: &str) -> String {
    let mut roff = String::new();
    // Writing to a String does not fail.
    for section in text.split("\n\n").filter(|section| !section.is_empty()) {
        let (heading, lines) = section.split_once('\n').unwrap_or((section, ""));
        let _ = writeln!(roff, ".SH {}\n.nf", escaped(&heading.trim_end_matches(':').to_uppercase()));
        for line in lines.lines() {
            // A line that begins with a dot or an apostrophe would be a request.
            let _ = writeln!(roff, "\\&{}", escaped(line.strip_prefix("  ").unwrap_or(line)));
        }
        roff.push_str(".fi\n");
    }
    roff
}

/// Hyphens, quotes and accents that can be copied from the page as they were written.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' => escaped.push_str("\\e"),
            '-' => escaped.push_str("\\-"),
            '\'' => escaped.push_str("\\(aq"),
            '`' => escaped.push_str("\\(ga"),
            '^' => escaped.push_str("\\(ha"),
            '~' => escaped.push_str("\\(ti"),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_keep_their_lines_and_their_characters() {
        let roff = as_sections("Examples:\n  tempmail a --b | jq '.x'\n  printf 'a\\n'\n\nExit codes (all):\n  0 done");
        assert_eq!(
            roff,
            ".SH EXAMPLES\n.nf\n\\&tempmail a \\-\\-b | jq \\(aq.x\\(aq\n\\&printf \\(aqa\\en\\(aq\n.fi\n\
             .SH EXIT CODES (ALL)\n.nf\n\\&0 done\n.fi\n"
        );
    }
}
