//! The lines of a text that an expected part of it was meant for, most likely.

/// The most lines that are given.
const LINES_MAX: usize = 3;
/// The shortest word that counts.
const WORD_CHARS_MIN: usize = 3;

/// Those lines of `text` that share the most words with `part`, in their order. The first lines if none does.
pub(super) fn lines(text: &str, part: &str) -> Vec<String> {
    let words = words(part);
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let shared = |line: &str| {
        let line = line.to_lowercase();
        words.iter().filter(|word| line.contains(word.as_str())).count()
    };
    let mut ranked: Vec<(usize, usize)> =
        lines.iter().enumerate().map(|(index, line)| (shared(line), index)).filter(|(shared, _)| *shared > 0).collect();
    ranked.sort_by_key(|(shared, index)| (usize::MAX - shared, *index));
    let mut nearest: Vec<usize> = ranked.into_iter().take(LINES_MAX).map(|(_, index)| index).collect();
    nearest.sort_unstable();
    if nearest.is_empty() {
        nearest.extend(0..lines.len().min(LINES_MAX));
    }
    let shown: Vec<String> = nearest.into_iter().map(|index| format!("\"{}\"", lines[index])).collect();
    if shown.is_empty() { vec!["(the mail has no text)".to_owned()] } else { shown }
}

/// The words of a text, in lower case.
fn words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric());
    words.filter(|word| word.chars().count() >= WORD_CHARS_MIN).map(str::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_with_its_words_are_near_a_part() {
        let text = "Hello,\n\nYour verification code is 48291.\nIt ends soon.\nThe code of conduct\nBye";
        assert_eq!(
            lines(text, "Verification code is 482913"),
            ["\"Your verification code is 48291.\"", "\"The code of conduct\""]
        );
        assert_eq!(lines(text, "1"), ["\"Hello,\"", "\"Your verification code is 48291.\"", "\"It ends soon.\""]);
        assert_eq!(lines(" \n", "code"), ["(the mail has no text)"]);
    }

    #[test]
    fn short_pieces_are_no_words() {
        assert_eq!(words("Is your Code: 12?"), ["your", "code"]);
    }
}
