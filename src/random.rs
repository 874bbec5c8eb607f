//! Ids and local parts that nobody can guess.

use std::str::FromStr;

use uuid::{Builder, Uuid};

use crate::model::{EmailId, EventId, Timestamp, WebhookId};

/// The characters of a fresh local part. Without vowels there are no words, and no two of them look alike.
const ALPHABET: &[u8; 27] = b"bcdfghjkmnpqrstvwxz23456789";
/// So many characters of the alphabet have 80.8 bits.
const LENGTH: usize = 17;
/// How many characters of a private local part show that it is one.
const CHECK_LENGTH: usize = 3;
/// The longest prefix in octets. With a hyphen and the rest it makes a local part of 64 at most.
const PREFIX_OCTETS_MAX: usize = 32;

/// A new id for an Email received at `at`, with 74 new random bits.
pub fn email_id(at: Timestamp) -> EmailId {
    EmailId::from_parts(at, rand::random())
}

/// A new id for a request that came at `at`.
pub fn request_id(at: Timestamp) -> Uuid {
    Builder::from_unix_timestamp_millis(at.millis().unsigned_abs(), &rand::random()).into_uuid()
}

/// A new id for a webhook.
pub fn webhook_id() -> WebhookId {
    WebhookId::from_octets(Builder::from_random_bytes(rand::random()).into_uuid().into_bytes())
}

/// A new id for an event that is no Email's, such as a test.
pub fn event_id() -> EventId {
    EventId::from_octets(Builder::from_custom_bytes(rand::random()).into_uuid().into_bytes())
}

/// The beginning of a local part, before a hyphen and characters at random.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalPartPrefix(String);

/// Why a text is not a prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a prefix is 1 to {PREFIX_OCTETS_MAX} letters, digits, '-', '_' and '.' of ASCII, and has no '.' at an end or beside another"
)]
pub struct LocalPartPrefixError;

impl FromStr for LocalPartPrefix {
    type Err = LocalPartPrefixError;

    /// A plus sign is not permitted: what follows it may be cut off, and then anybody could guess the rest.
    fn from_str(text: &str) -> Result<Self, LocalPartPrefixError> {
        let is_permitted = |octet: u8| octet.is_ascii_alphanumeric() || b"-_.".contains(&octet);
        let is_dotted = text.split('.').any(str::is_empty);
        let is_prefix = !is_dotted && text.len() <= PREFIX_OCTETS_MAX && text.bytes().all(is_permitted);
        is_prefix.then(|| Self(text.to_owned())).ok_or(LocalPartPrefixError)
    }
}

/// A local part of at least 80 random bits behind the prefix and a hyphen.
pub fn local_part(prefix: Option<&LocalPartPrefix>) -> String {
    let mut local_part = prefix.map(|LocalPartPrefix(text)| format!("{text}-")).unwrap_or_default();
    local_part.extend((0..LENGTH).map(|_| char::from(ALPHABET[rand::random_range(..ALPHABET.len())])));
    local_part
}

/// A local part for one private inbox: that of [`local_part`], and characters that follow from it.
pub fn private_local_part(prefix: Option<&LocalPartPrefix>) -> String {
    let local_part = local_part(prefix);
    let check = check_of(&local_part);
    local_part + &check
}

/// Whether a local part has the form of [`private_local_part`], in upper or lower case. One of [`local_part`] never has, and
/// of others with as many characters of the alphabet one in 19,683.
pub fn is_private(local_part: &str) -> bool {
    let local_part = local_part.to_ascii_lowercase();
    let random = local_part.rsplit('-').next().unwrap_or_default();
    let is_random = random.len() == LENGTH + CHECK_LENGTH && random.bytes().all(|octet| ALPHABET.contains(&octet));
    let check = local_part.len().checked_sub(CHECK_LENGTH).filter(|_| is_random);
    check.is_some_and(|at| local_part[at..] == check_of(&local_part[..at]))
}

/// The check characters for what is before them.
fn check_of(text: &str) -> String {
    let sum = crc32c::crc32c(text.to_ascii_lowercase().as_bytes()) as usize;
    let digits = std::iter::successors(Some(sum), |rest| Some(rest / ALPHABET.len()));
    digits.take(CHECK_LENGTH).map(|rest| char::from(ALPHABET[rest % ALPHABET.len()])).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn ids_of_one_millisecond_share_no_random_bits() {
        let at = Timestamp::from_millis(1_700_000_000_000);
        let ids: HashSet<_> = (0..1000).map(|_| email_id(at)).collect();
        assert_eq!(ids.len(), 1000);
        let tails: HashSet<[u8; 7]> = ids.iter().map(|id| id.octets()[9..].try_into().expect("seven octets")).collect();
        assert_eq!(tails.len(), 1000);
        assert!(ids.iter().all(|id| id.received_at() == Some(at)));
    }

    #[test]
    fn local_parts_are_distinct_and_use_the_whole_alphabet() {
        let all: HashSet<String> = (0..1_000).map(|_| local_part(None)).collect();
        assert_eq!(all.len(), 1_000);
        let used: HashSet<u8> = all.iter().flat_map(|local_part| local_part.bytes()).collect();
        assert_eq!(used, ALPHABET.iter().copied().collect());
        // 2^80 of them, in whole numbers.
        assert!((27_u128).pow(u32::try_from(LENGTH).expect("a small number")) >= 1 << 80);
        let prefix: LocalPartPrefix = "Sign-up.test".parse().expect("a prefix");
        assert!(local_part(Some(&prefix)).starts_with("Sign-up.test-"));
    }

    #[test]
    fn a_private_local_part_has_a_form_of_its_own() {
        let mut by_chance = 0;
        let prefixes = [None, Some("Sign-up.test"), Some("x"), Some("bcdfghjkmnpqrstvwxz2345678923456")];
        for prefix in prefixes.map(|prefix| prefix.map(|text| text.parse::<LocalPartPrefix>().expect("a prefix"))) {
            for _ in 0..1_000 {
                assert!(!is_private(&local_part(prefix.as_ref())));
                let private = private_local_part(prefix.as_ref());
                assert!(
                    private.len() <= 64 && is_private(&private) && is_private(&private.to_uppercase()),
                    "{private}"
                );
                let at = private.len() - LENGTH - CHECK_LENGTH;
                let other = if private.as_bytes()[at] == b'b' { "c" } else { "b" };
                by_chance += usize::from(is_private(&[&private[..at], other, &private[at + 1..]].concat()));
            }
        }
        assert!(by_chance < 10, "{by_chance} of 4,000");
        // A form that must not change: old addresses have it.
        assert!(is_private("signup-bcdfghjkmnpqrstvwqqm"));
        for text in ["", "-", "ann", "ü", "x-üüüüüüüüüü", "bcdfghjkmnpqrstvwxyz"] {
            assert!(!is_private(text), "{text:?}");
        }
    }

    #[test]
    fn a_prefix_can_neither_hide_nor_break_the_rest() {
        assert_eq!("Sign-up.test".parse().map(|prefix: LocalPartPrefix| prefix.0), Ok("Sign-up.test".to_owned()));
        let long = "x".repeat(PREFIX_OCTETS_MAX + 1);
        for text in ["", "a+b", "a@b", "a b", "a..b", ".a", "a.", "\"a\"", "ü", "a\n", long.as_str()] {
            assert_eq!(text.parse::<LocalPartPrefix>(), Err(LocalPartPrefixError), "{text:?}");
        }
    }
}
