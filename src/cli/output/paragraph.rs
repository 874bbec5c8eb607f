//! Sentences on a terminal.

use unicode_width::UnicodeWidthStr;

/// With less room than this, lines are left to the terminal.
const ROOM_MIN: usize = 20;

/// `text` broken at blanks into lines that end within `width` columns. It begins at column `indent`, and so does each line
/// of it. A word that is longer than a line stays whole.
pub fn hanging(text: &str, width: Option<u16>, indent: usize) -> String {
    let room = width.map(|width| usize::from(width).saturating_sub(indent)).filter(|room| *room >= ROOM_MIN);
    let Some(room) = room else { return text.to_owned() };
    let (mut broken, mut used) = (String::with_capacity(text.len()), 0);
    for word in text.split(' ') {
        let is_first = broken.is_empty();
        if !is_first && used + 1 + word.width() > room {
            broken.push('\n');
            broken.extend(std::iter::repeat_n(' ', indent));
            used = 0;
        } else if !is_first {
            broken.push(' ');
            used += 1;
        }
        broken.push_str(word);
        used += word.width();
    }
    broken
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_ends_before_the_edge_and_the_next_is_indented() {
        assert_eq!(hanging("one two three four five", Some(24), 4), "one two three four\n    five");
        assert_eq!(hanging("漢字漢字漢字 漢字漢字", Some(24), 4), "漢字漢字漢字\n    漢字漢字");
        let long = "x".repeat(30);
        assert_eq!(hanging(&format!("a {long} b"), Some(24), 4), format!("a\n    {long}\n    b"));
    }

    #[test]
    fn without_a_width_or_with_little_room_nothing_is_broken() {
        let text = "one two three four five six";
        assert_eq!(hanging(text, None, 4), text);
        assert_eq!(hanging(text, Some(23), 4), text);
    }
}
