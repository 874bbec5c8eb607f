//! Local parts that nobody can guess.

/// The characters of a fresh local part. Without vowels there are no words, and no two of them look alike.
const ALPHABET: &[u8; 27] = b"bcdfghjkmnpqrstvwxz23456789";
/// So many characters of the alphabet have 80.8 bits.
const LENGTH: usize = 17;
/// The longest prefix in octets. With a hyphen and the rest it makes a local part of 64 at most.
const PREFIX_OCTETS_MAX: usize = 32;

/// What a fresh local part begins with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalPartPrefix(String);

/// Why a text is not a prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a prefix is 1 to {PREFIX_OCTETS_MAX} letters, digits, '-', '_' and '.' of ASCII, and has no '.' at an end or beside another"
)]
pub struct LocalPartPrefixError;

impl std::str::FromStr for LocalPartPrefix {
    type Err = LocalPartPrefixError;

    /// A plus sign is not permitted: what follows it may be cut off, and then anybody could guess the rest.
    fn from_str(text: &str) -> Result<Self, LocalPartPrefixError> {
        let is_permitted = |octet: u8| octet.is_ascii_alphanumeric() || b"-_.".contains(&octet);
        let is_dotted = text.split('.').any(str::is_empty);
        if is_dotted || text.len() > PREFIX_OCTETS_MAX || !text.bytes().all(is_permitted) {
            return Err(LocalPartPrefixError);
        }
        Ok(Self(text.to_owned()))
    }
}

/// A local part of at least 80 random bits behind the prefix and a hyphen.
pub fn fresh_local_part(prefix: Option<&LocalPartPrefix>) -> String {
    let mut local_part = prefix.map(|LocalPartPrefix(text)| format!("{text}-")).unwrap_or_default();
    local_part.extend((0..LENGTH).map(|_| char::from(ALPHABET[rand::random_range(..ALPHABET.len())])));
    local_part
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn local_parts_are_distinct_and_use_the_whole_alphabet() {
        let all: HashSet<String> = (0..1_000).map(|_| fresh_local_part(None)).collect();
        assert_eq!(all.len(), 1_000);
        let used: HashSet<u8> = all.iter().flat_map(|local_part| local_part.bytes()).collect();
        assert_eq!(used, ALPHABET.iter().copied().collect());
        // 2^80 of them, in whole numbers.
        assert!((27_u128).pow(u32::try_from(LENGTH).expect("a small number")) >= 1 << 80);
    }

    #[test]
    fn a_prefix_comes_first_and_can_neither_hide_nor_break_the_rest() {
        let prefix: LocalPartPrefix = "Sign-up.test".parse().expect("a prefix");
        assert!(fresh_local_part(Some(&prefix)).starts_with("Sign-up.test-"));
        let long = "x".repeat(PREFIX_OCTETS_MAX + 1);
        for text in ["", "a+b", "a@b", "a b", "a..b", ".a", "a.", "\"a\"", "ü", "a\n", long.as_str()] {
            assert_eq!(text.parse::<LocalPartPrefix>(), Err(LocalPartPrefixError), "{text:?}");
        }
    }
}
