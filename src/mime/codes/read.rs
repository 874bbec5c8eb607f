//! A page with what was found in it, line by line.

use super::candidate::{Candidate, candidates};
use super::lexicon::Hit;
use super::page::Page;

/// How far from a candidate the words of its line count at all, in octets.
pub(super) const LINE_OCTETS: usize = 160;

/// A page with the phrases in it.
pub(super) struct Read<'a> {
    pub(super) page: &'a Page,
    pub(super) hits: &'a [Hit],
    /// The positions of the lines' starts, and the length of the text.
    pub(super) lines: Vec<usize>,
    pub(super) candidates: Vec<Candidate>,
}

/// What ends a sentence: in ASCII with a blank behind it, in other scripts alone.
const SENTENCE_ENDS: [char; 14] = [
    '.', '!', '?', '\u{3002}', '\u{ff01}', '\u{ff1f}', '\u{964}', '\u{6d4}', '\u{61f}', '\u{589}', '\u{1362}',
    '\u{17d4}', '\u{104b}', '\u{f0d}',
];

/// The marks that lead to what is behind them: a colon, also a wide one, and those of Armenian and Amharic.
pub(super) const COLONS: [char; 4] = [':', '\u{ff1a}', '\u{55d}', '\u{1366}'];

/// Whether a sentence ends in a text that goes on behind it.
pub(super) fn has_sentence_end(text: &str) -> bool {
    last_sentence(text).len() < text.len()
}

/// The text behind the last end of a sentence in it.
pub(super) fn last_sentence(text: &str) -> &str {
    let rest = |(at, end): (usize, &str)| {
        Some(&text[at + end.len()..]).filter(|rest| !end.is_ascii() || rest.starts_with([' ', '\n', '\t']))
    };
    text.rmatch_indices(SENTENCE_ENDS).find_map(rest).unwrap_or(text)
}

/// Whether a line ends a sentence.
pub(super) fn ends_sentence(line: &str) -> bool {
    line.trim_end().ends_with(SENTENCE_ENDS)
}

impl<'a> Read<'a> {
    pub(super) fn of(page: &'a Page, hits: &'a [Hit]) -> Self {
        let ends = page.text.bytes().enumerate().filter(|(_, octet)| *octet == b'\n').map(|(at, _)| at + 1);
        let mut lines: Vec<usize> = std::iter::once(0).chain(ends).collect();
        lines.push(page.text.len() + 1);
        Self { page, hits, lines, candidates: candidates(page) }
    }

    /// The line of a position, as an index.
    pub(super) fn line_of(&self, position: usize) -> usize {
        self.lines.partition_point(|start| *start <= position).saturating_sub(1)
    }

    /// The line with this index, without its end.
    pub(super) fn line(&self, index: usize) -> (usize, usize) {
        (self.lines[index], self.lines[index + 1] - 1)
    }

    /// Whether nothing else is in the line or cell of a piece of the text but marks.
    pub(super) fn is_alone(&self, start: usize, end: usize) -> bool {
        let (line_start, line_end) = self.line(self.line_of(start));
        let text = &self.page.text;
        let near_start = text.ceil_char_boundary(line_start.max(start.saturating_sub(LINE_OCTETS)));
        let near_end = text.floor_char_boundary(line_end.clamp(end, end + LINE_OCTETS));
        let before = text[near_start..start].rsplit('\t').next().unwrap_or_default();
        let after = text[end..near_end].split(['\t', '\n']).next().unwrap_or_default();
        !before.chars().chain(after.chars()).any(char::is_alphanumeric)
    }

    /// Whether a candidate is in the history of a mail.
    pub(super) fn is_in_quote(&self, candidate: &Candidate) -> bool {
        let (start, _) = self.line(self.line_of(candidate.start));
        self.page.look(candidate.start).is_quoted || self.page.text[start..].starts_with('>')
    }

    /// Whether a colon is right before a candidate in its line.
    pub(super) fn is_led(&self, candidate: &Candidate) -> bool {
        let start = self.line(self.line_of(candidate.start)).0;
        self.page.text[start..candidate.start].trim_end_matches(' ').ends_with(COLONS)
    }

    /// The position so many signs behind a position.
    pub(super) fn behind(&self, position: usize, signs: usize) -> usize {
        let text = &self.page.text;
        text[position..].char_indices().nth(signs).map_or(text.len(), |(at, _)| position + at)
    }

    /// The position so many signs before a position.
    pub(super) fn before(&self, position: usize, signs: usize) -> usize {
        self.page.text[..position].char_indices().rev().take(signs).last().map_or(position, |(at, _)| at)
    }

    /// The hits that begin within `start..end`.
    pub(super) fn hits_in(&self, start: usize, end: usize) -> &[Hit] {
        let from = self.hits.partition_point(|hit| hit.start < start);
        let to = self.hits.partition_point(|hit| hit.start < end);
        super::step(to.saturating_sub(from));
        &self.hits[from..to.max(from)]
    }
}
