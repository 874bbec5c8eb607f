//! Long text for a terminal, a screen at a time.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::process::{Command, Stdio};

use unicode_width::UnicodeWidthStr;

/// Shows `text` through the pager of the environment, by default `less`; false if there is none and nothing was shown.
pub fn show(text: &str, env: &BTreeMap<String, String>) -> bool {
    let words = words(env);
    let Some((program, args)) = words.split_first() else { return false };
    let mut command = Command::new(program);
    command.args(args).stdin(Stdio::piped());
    if !env.contains_key("LESS") {
        // Ends at once where the text fits the screen, keeps colours, and leaves the text on the screen.
        command.env("LESS", "FRX");
    }
    let Ok(mut pager) = command.spawn() else { return false };
    if let Some(mut stdin) = pager.stdin.take() {
        // A user who leaves the pager early has read enough.
        let _ = stdin.write_all(text.as_bytes());
    }
    // Its text was shown, whatever it ends with.
    let _ = pager.wait();
    true
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

    #[test]
    fn text_goes_through_the_pager_and_is_left_to_the_caller_without_one() {
        let dir = tempfile::tempdir().expect("a directory");
        let copy = dir.path().join("copy");
        let of = |pager: String| BTreeMap::from([("PAGER".to_owned(), pager)]);
        assert!(show("a guide\n", &of(format!("dd status=none of={}", copy.display()))));
        assert_eq!(std::fs::read_to_string(copy).expect("what was shown"), "a guide\n");
        assert!(!show("a guide\n", &of("/nowhere/pager".to_owned())));
    }
}
