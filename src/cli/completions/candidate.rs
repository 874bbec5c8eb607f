//! What may stand at the cursor: a value, and what it means.

use clap_complete::engine::CompletionCandidate;

use super::super::output::visible;

/// Descriptions are cut at this length.
const DESCRIPTION_CHARS_MAX: usize = 100;

/// A value with a description, which may be empty and may come from a stranger.
pub(super) fn candidate(value: impl Into<String>, description: &str) -> CompletionCandidate {
    CompletionCandidate::new(value.into()).help(Some(visible::field(description).into()))
}

/// Whether a value is no flag and means itself in every shell, inside quotes or outside. Strangers choose the addresses that
/// get mail, and what a shell completes is soon run.
pub(super) fn is_plain(candidate: &CompletionCandidate) -> bool {
    let is_plain = |c: char| c.is_alphanumeric() || "@%+,./_-".contains(c);
    let value = candidate.get_value().to_string_lossy();
    !value.is_empty() && !value.starts_with('-') && value.chars().all(is_plain) && visible::field(&value) == value
}

/// The line for the script of a shell: the value, and behind a tab the description, if there is one.
pub(super) fn line(candidate: &CompletionCandidate) -> String {
    let value = candidate.get_value().to_string_lossy();
    let description = candidate.get_help().map(ToString::to_string).unwrap_or_default();
    let description = description.trim();
    match description.char_indices().nth(DESCRIPTION_CHARS_MAX) {
        _ if description.is_empty() => format!("{value}\n"),
        None => format!("{value}\t{description}\n"),
        Some((end, _)) => format!("{value}\t{}…\n", &description[..end]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_shell_would_act_on_is_not_plain() {
        let is_plain = |value: &str| is_plain(&candidate(value, ""));
        for value in ["ann+tag@example.test", "a.b-c_d@x.test", "9e0f2a3b", "grün@bücher.test", "now"] {
            assert!(is_plain(value), "{value}");
        }
        for c in " \t\n'\"\\$`!#&*()[]{}<>|;?^~=:\u{1b}\u{7f}\u{200b}\u{202e}\u{3164}".chars() {
            assert!(!is_plain(&format!("a{c}b@x.test")), "{c:?}");
        }
        assert!(!is_plain("") && !is_plain("-rf@x.test"));
    }

    #[test]
    fn a_description_stays_on_its_line() {
        let line = |description: &str| line(&candidate("v", description).add_prefix("--flag="));
        assert_eq!(line(""), "--flag=v\n");
        assert_eq!(line("a\tb\r\nc\u{1b}[2J\u{202e}"), "--flag=v\ta b  c␛[2J<U+202E>\n");
        assert_eq!(line(&"é".repeat(101)), format!("--flag=v\t{}…\n", "é".repeat(100)));
    }
}
