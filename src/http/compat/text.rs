//! Texts that searches compare.

use crate::mime::NamedAddress;

/// A text in lower case with single blanks, without the marks that enclose and separate addresses.
pub(super) fn plain(text: &str) -> String {
    let text = text.replace(['<', '>', '"', ',', ';', '\u{feff}'], " ").to_lowercase();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether the name or the address of anybody contains `part`, which is in lower case.
pub(super) fn names(all: &[NamedAddress], part: &str) -> bool {
    all.iter().any(|one| one.address.to_lowercase().contains(part) || plain(&one.name).contains(part))
}
