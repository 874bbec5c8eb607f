//! The lines of a text that a regular expression was meant for, most likely.

/// The most lines that are given.
const LINES_MAX: usize = 3;
/// The shortest word of an expression that counts.
const WORD_CHARS_MIN: usize = 3;

/// Those lines of `text` that share the most words with the expression, in their order. The first lines if none does.
pub(super) fn lines(text: &str, expression: &str) -> Vec<String> {
    let words = words(expression);
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

/// The words of an expression that stand for themselves, in lower case.
fn words(expression: &str) -> Vec<String> {
    let (mut words, mut word) = (Vec::new(), String::new());
    let mut chars = expression.chars();
    while let Some(c) = chars.next() {
        if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
            continue;
        }
        if c == '\\' {
            // A class such as \d is no word.
            chars.next();
        }
        words.push(std::mem::take(&mut word));
    }
    words.push(word);
    words.retain(|word| word.chars().count() >= WORD_CHARS_MIN);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_with_its_words_are_near_an_expression() {
        let text = "Hello,\n\nYour verification code is 48291.\nIt ends soon.\nThe code of conduct\nBye";
        assert_eq!(
            lines(text, r"(?i)verification code is \d{6}"),
            ["\"Your verification code is 48291.\"", "\"The code of conduct\""]
        );
        assert_eq!(lines(text, r"^\d+$"), ["\"Hello,\"", "\"Your verification code is 48291.\"", "\"It ends soon.\""]);
        assert_eq!(lines(" \n", "code"), ["(the mail has no text)"]);
    }

    #[test]
    fn classes_and_short_pieces_are_no_words() {
        assert_eq!(words(r"\bYour\s+Code:\x20(\d{6}|[a-z]+)"), ["your", "code"]);
    }
}
