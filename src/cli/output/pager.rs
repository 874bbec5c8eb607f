//! Long text for a terminal, a screen at a time.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Seek as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use rustix::fs::{MemfdFlags, memfd_create};
use unicode_width::UnicodeWidthStr;

/// Hands the process over to the pager of the environment, by default `less`. Returns only where there is none.
///
/// So the terminal and its Ctrl-C are the pager's alone, and so is the exit code.
pub fn hand_over(text: &str, env: &BTreeMap<String, String>) {
    let words = words(env);
    let Some((program, args)) = words.split_first() else { return };
    let Ok(input) = in_memory(text) else { return };
    let mut command = Command::new(program);
    command.args(args).stdin(input);
    if !env.contains_key("LESS") {
        // Ends at once where the text fits the screen, keeps colours, and leaves the text on the screen.
        command.env("LESS", "FRX");
    }
    // A pager that does not start is as good as none.
    let _ = command.exec();
}

/// A file that holds `text` and has no name.
fn in_memory(text: &str) -> io::Result<File> {
    let mut file = File::from(memfd_create("text", MemfdFlags::CLOEXEC)?);
    file.write_all(text.as_bytes())?;
    file.rewind()?;
    Ok(file)
}

/// Whether `text` takes more lines than a terminal of this size has.
pub fn is_longer(text: &str, columns: u16, rows: u16) -> bool {
    let columns = usize::from(columns.max(1));
    let lines: usize = text.lines().map(|line| line.width().max(1).div_ceil(columns)).sum();
    rows > 0 && lines >= usize::from(rows)
}

/// The command line in PAGER. An empty one, and `cat`, stand for no pager.
fn words(env: &BTreeMap<String, String>) -> Vec<&str> {
    match env.get("PAGER").map(|pager| pager.split_whitespace().collect::<Vec<_>>()) {
        None => vec!["less"],
        Some(words) if words == ["cat"] => Vec::new(),
        Some(words) => words,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_chooses_the_pager() {
        let of = |pager: &str| BTreeMap::from([("PAGER".to_owned(), pager.to_owned())]);
        assert_eq!(words(&BTreeMap::new()), ["less"]);
        assert_eq!(words(&of("most -w")), ["most", "-w"]);
        assert_eq!(words(&of("")), [""; 0]);
        assert_eq!(words(&of("cat")), [""; 0]);
    }

    #[test]
    fn a_text_is_long_when_its_broken_lines_fill_the_screen() {
        assert!(!is_longer("a\nb\n", 80, 24));
        assert!(is_longer(&"a\n".repeat(24), 80, 24));
        assert!(is_longer(&"漢".repeat(41), 10, 9));
        assert!(!is_longer(&"a\n".repeat(99), 80, 0));
    }
}
