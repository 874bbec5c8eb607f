//! Reads Rust sources as far as the rules need: code without comments and tests, and the paths in it.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

/// The source without comments, without its tests, and without the content of its strings. Tests may use every module.
pub(super) fn production(source: &str) -> String {
    let plain = code(source, false);
    without_tests(&plain, &plain)
}

/// `text` without each item behind `#[cfg(test)]`. `plain` is `text` with blanks for what is in strings.
fn without_tests(text: &str, plain: &str) -> String {
    const MARK: &str = "#[cfg(test)]";
    let (mut remaining, mut at) = (String::new(), 0);
    while let Some(start) = plain[at..].find(MARK).map(|found| at + found) {
        remaining.push_str(&text[at..start]);
        at = end_of_item(plain, start + MARK.len());
    }
    remaining + &text[at..]
}

/// Where the item ends that begins at `start`: behind its `;`, or behind its block.
fn end_of_item(plain: &str, start: usize) -> usize {
    let mut depth = 0_usize;
    for (at, c) in plain[start..].char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            '}' if depth == 1 => return start + at + 1,
            ')' | ']' | '}' => depth -= 1,
            ';' if depth == 0 => return start + at + 1,
            _ => {}
        }
    }
    plain.len()
}

/// The source with blanks for its comments and, unless `keeps_strings`, for the content of its strings.
fn code(source: &str, keeps_strings: bool) -> String {
    let mut found = String::new();
    let mut rest = source;
    while let Some(first) = rest.chars().next() {
        let is_in_name = found.ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let may_be_literal = first == '"' || !is_in_name && ['\'', 'b', 'c', 'r'].contains(&first);
        let (length, keeps) = match may_be_literal.then(|| literal(rest)).flatten() {
            Some(length) => (length, keeps_strings),
            None => match comment(rest) {
                Some(length) => (length, false),
                None => (first.len_utf8(), true),
            },
        };
        let (token, after) = rest.split_at(length);
        if keeps {
            found.push_str(token);
        } else {
            let blank = |octet: u8| if octet == b'\n' { '\n' } else { ' ' };
            found.extend(token.bytes().map(blank));
        }
        rest = after;
    }
    found
}

/// The length of the comment that `text` begins with.
fn comment(text: &str) -> Option<usize> {
    if text.starts_with("//") {
        return Some(text.find('\n').unwrap_or(text.len()));
    }
    text.starts_with("/*").then(|| text.find("*/").map_or(text.len(), |end| end + 2))
}

/// The length of the string or character literal that `text` begins with.
fn literal(text: &str) -> Option<usize> {
    let body = text.strip_prefix(['b', 'c']).unwrap_or(text);
    let prefix = text.len() - body.len();
    if let Some(raw) = body.strip_prefix('r') {
        let hashes = raw.len() - raw.trim_start_matches('#').len();
        let content = raw[hashes..].strip_prefix('"')?;
        let end = format!("\"{}", "#".repeat(hashes));
        let start = prefix + 1 + hashes + 1;
        return Some(content.find(&end).map_or(text.len(), |at| start + at + end.len()));
    }
    let quote = body.chars().next().filter(|first| ['"', '\''].contains(first))?;
    let mut is_escaped = false;
    for (count, (at, c)) in body.char_indices().skip(1).enumerate() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            _ if c == quote => return Some(prefix + at + 1),
            // A lifetime is no literal: a character is one, or an escape.
            _ if quote == '\'' && count > 0 && !body[1..].starts_with('\\') => return None,
            _ => {}
        }
    }
    None
}

/// Whether the top comment of a module says that it is pure: its sentence begins with the word.
pub(super) fn calls_itself_pure(source: &str) -> bool {
    let top: Vec<_> = source.lines().map_while(|line| line.strip_prefix("//!")).map(str::trim).collect();
    let top = top.join(" ");
    let starts = |(at, _): (usize, &str)| at == 0 || top[..at].ends_with(". ") || top[..at].ends_with("  ");
    top.match_indices("Pure").any(starts) || top.split("```").next().is_some_and(|text| text.contains(": pure"))
}

/// Every path in the source with more than one name, and every `use` of one name; groups are taken apart, and `self` and
/// `super` are written out from `crate` on.
pub(super) fn paths(file: &str, source: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = source;
    let mut is_used = false;
    while let Some(start) = rest.find(|c: char| c.is_ascii_alphabetic() || c == '_') {
        // An identifier after a dot is a field or a method, one after an apostrophe a lifetime.
        let is_path = !rest[..start].ends_with(['.', '\'']);
        rest = &rest[start..];
        let before = found.len();
        let after = tree(rest, &mut Vec::new(), &mut found);
        if rest.starts_with("use ") {
            is_used = true;
        } else {
            if !is_path || !is_used && found.len() == before + 1 && !found[before].contains("::") {
                found.truncate(before);
            }
            is_used = false;
        }
        rest = &rest[after..];
    }
    found.iter().map(|path| absolute(file, path)).collect()
}

/// Reads one path tree at the start of `source` behind `stem`; how many octets it takes.
fn tree(source: &str, stem: &mut Vec<String>, found: &mut Vec<String>) -> usize {
    let depth = stem.len();
    let mut at = 0;
    loop {
        at += blank(&source[at..]);
        let name = source[at..].find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(source.len() - at);
        if name == 0 {
            break;
        }
        stem.push(source[at..at + name].to_owned());
        at += name;
        let Some(further) = source[at..].strip_prefix("::") else { break };
        at += 2;
        if further.starts_with('{') {
            at += 1;
            loop {
                at += tree(&source[at..], stem, found);
                at += blank(&source[at..]);
                // `a as b` names `b` as well, which is no path of its own.
                if source[at..].starts_with("as ") {
                    at += source[at..].find([',', '}']).unwrap_or(source.len() - at);
                }
                match source[at..].chars().next() {
                    Some(',') => at += 1,
                    Some('}') => {
                        at += 1;
                        break;
                    }
                    _ => break,
                }
            }
            stem.truncate(depth);
            return at;
        }
    }
    if stem.len() > depth {
        found.push(stem.join("::"));
        stem.truncate(depth);
    }
    at
}

fn blank(text: &str) -> usize {
    text.len() - text.trim_start().len()
}

/// The path from `crate` on, where it is relative to the module of `file`.
fn absolute(file: &str, path: &str) -> String {
    let mut module: Vec<&str> = file.trim_end_matches(".rs").trim_end_matches("/mod").split('/').collect();
    let mut names: Vec<&str> = path.split("::").collect();
    if names[0] != "super" && names[0] != "self" {
        return path.to_owned();
    }
    while let Some("super" | "self") = names.first().copied() {
        if names.remove(0) == "super" {
            module.pop();
        }
    }
    [vec!["crate"], module, names].concat().join("::")
}

/// A file under `src`.
pub(super) struct Source {
    /// Its path from there.
    pub(super) file: String,
    pub(super) text: String,
    /// The paths in it that are no test's.
    pub(super) paths: Vec<String>,
}

impl Source {
    /// The text without comments and without tests.
    pub(super) fn with_strings(&self) -> String {
        without_tests(&code(&self.text, true), &code(&self.text, false))
    }
}

/// Every source under `src`, without tests that have files of their own.
pub(super) static SOURCES: LazyLock<Vec<Source>> = LazyLock::new(|| {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    read(&root, &root, &mut found);
    found
});

fn read(dir: &Path, root: &Path, found: &mut Vec<Source>) {
    for entry in fs::read_dir(dir).expect("a directory of src") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            read(&path, root, found);
        } else if path.extension().is_some_and(|kind| kind == "rs")
            && !path.ends_with("tests.rs")
            && !path.ends_with("tests/mod.rs")
        {
            let file = path.strip_prefix(root).expect("below src").to_string_lossy().into_owned();
            let text = fs::read_to_string(&path).expect("text");
            let paths = paths(&file, &production(&text));
            found.push(Source { file, text, paths });
        }
    }
}
