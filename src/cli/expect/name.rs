//! The name of an attachment, as a pattern.

use std::fmt;
use std::str::FromStr;

use regex::Regex;

/// The longest pattern, in octets.
const OCTETS_MAX: usize = 1_000;

/// A name in which `*` stands for any characters. All others stand for themselves, in their case.
#[derive(Clone, Debug)]
pub(super) struct NamePattern {
    text: String,
    regex: Regex,
}

impl NamePattern {
    /// Whether the whole name matches.
    pub(super) fn matches(&self, name: &str) -> bool {
        self.regex.is_match(name)
    }
}

impl FromStr for NamePattern {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.is_empty() || text.len() > OCTETS_MAX {
            return Err(format!("give a name of 1 to {OCTETS_MAX} octets, such as 'invoice-*.pdf'"));
        }
        let parts: Vec<String> = text.split('*').map(regex::escape).collect();
        let regex = Regex::new(&format!("(?s)^{}$", parts.join(".*"))).map_err(|error| error.to_string())?;
        Ok(Self { text: text.to_owned(), regex })
    }
}

impl fmt::Display for NamePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_star_stands_for_others() {
        for (pattern, name, expected) in [
            ("invoice.pdf", "invoice.pdf", true),
            ("invoice.pdf", "Invoice.pdf", false),
            ("invoice.pdf", "invoice-pdf", false),
            ("invoice-*.pdf", "invoice-7.pdf", true),
            ("invoice-*.pdf", "old-invoice-7.pdf", false),
            ("invoice-*.pdf", "invoice-7.pdf.exe", false),
            ("*", "a\nb", true),
            ("a?[b]", "a?[b]", true),
        ] {
            let matches = pattern.parse::<NamePattern>().expect(pattern).matches(name);
            assert_eq!(matches, expected, "{pattern} {name}");
        }
        assert!("".parse::<NamePattern>().is_err() && "a".repeat(1_001).parse::<NamePattern>().is_err());
    }
}
