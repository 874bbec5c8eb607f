//! The two signatures of an event's request.
//!
//! Pure. Only here the octets of a secret become a key.

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::model::Secret;

/// The prefix of a secret in the form of Standard Webhooks; base64 follows.
const STANDARD_PREFIX: &[u8] = b"whsec_";

/// Base64 of RFC 4648 section 4, decoded without its `=`. Unused bits of the last digit may be set, because most receivers'
/// libraries accept them, and their key must be ours.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::RequireNone)
        .with_decode_allow_trailing_bits(true),
);

/// The values of the signature headers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signatures {
    /// `X-Webhook-Signature`: lowercase hex of the HMAC-SHA256 of the body. The key is the secret as given, including a
    /// prefix `whsec_`.
    pub hex: String,
    /// `webhook-signature`: `v1,` and the base64 of the HMAC-SHA256 of `id.timestamp.body`.
    pub standard: String,
}

/// Signs the `body` of the event `id`, for an attempt at `at_seconds` after the Unix epoch.
///
/// For Standard Webhooks the key is decoded from the base64 after `whsec_` (RFC 4648 section 4, with any number of `=` at its
/// end). A secret without the prefix, or without base64 after it, is the key itself.
pub fn sign(secret: &Secret, id: &str, at_seconds: i64, body: &[u8]) -> Signatures {
    let secret = secret.expose().as_bytes();
    let standard_key = decoded(secret).unwrap_or_else(|| secret.to_vec());
    let signed_at = at_seconds.to_string();
    let signed = [id.as_bytes(), b".", signed_at.as_bytes(), b".", body];
    let standard = BASE64.encode(hmac(&standard_key, &signed));
    Signatures { hex: hex(&hmac(secret, &[body])), standard: format!("v1,{standard}") }
}

/// Whether a secret has the prefix of Standard Webhooks, but no base64 after it. Such a secret is probably a mistake.
pub fn has_prefix_alone(secret: &Secret) -> bool {
    let secret = secret.expose().as_bytes();
    secret.starts_with(STANDARD_PREFIX) && decoded(secret).is_none()
}

/// The key that is encoded after the prefix, if there is one.
fn decoded(secret: &[u8]) -> Option<Vec<u8>> {
    let rest = secret.strip_prefix(STANDARD_PREFIX)?;
    let digits = rest.iter().rposition(|octet| *octet != b'=').map_or(0, |last| last + 1);
    BASE64.decode(&rest[..digits]).ok().filter(|key| !key.is_empty())
}

fn hmac(key: &[u8], parts: &[&[u8]]) -> [u8; 32] {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes keys of any length (RFC 2104 section 2)");
    for part in parts {
        mac.update(part);
    }
    mac.finalize().into_bytes().into()
}

fn hex(octets: &[u8]) -> String {
    let digit = |nibble: u8| char::from(b"0123456789abcdef"[usize::from(nibble)]);
    let mut hex = String::with_capacity(2 * octets.len());
    hex.extend(octets.iter().flat_map(|octet| [digit(octet >> 4), digit(octet & 15)]));
    hex
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "msg_p5jXN8AQM9LWM0D4loKWxJek";
    const AT: i64 = 1_614_265_330;
    const BODY: &[u8] = b"{\"test\": 2432232314}";

    fn signed(secret: &str, id: &str, at_seconds: i64, body: &[u8]) -> Signatures {
        sign(&Secret::new(secret.to_owned()).expect("not empty"), id, at_seconds, body)
    }

    #[test]
    fn the_published_vector_of_standard_webhooks() {
        let signed = signed("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", ID, AT, BODY);
        assert_eq!(signed.standard, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
        assert_eq!(signed.hex, "80ec8a89ce3cd22133a1066caecb4d04fea7467657c8514d717ec42c38a5c94c");
    }

    /// Computed with Python's hmac, hashlib and base64.
    #[test]
    fn secrets_of_each_form() {
        for (secret, hex, standard) in [
            (
                "s3cret",
                "17db78689dcba1572d42dfdc8a61b169b291c1ea3ee9c169d78d9fe57c2bc55d",
                "v1,+ovFnGFuIqjGihpeGWWpQI81Q0lhpDv9t/URyHZUADQ=",
            ),
            (
                "schlüssel",
                "79f53f037038420bf59857c88f49478a7cd81fb6ba57337b50a64fa97e931280",
                "v1,y3ENvHzUraODSu0Vvt/s2tOC+gGhq624yDrJc1Bb6uE=",
            ),
            (
                "whsec_c2VjcmV0",
                "67a651ba0cbff40cf37af1c20ab1ef8365ae938e14c5fd0eade41abfd124ab00",
                "v1,QhlSMIJS/+71IQLjjmkiCGkWoueir474RayJQKtDu+0=",
            ),
        ] {
            let expected = Signatures { hex: hex.to_owned(), standard: standard.to_owned() };
            assert_eq!(signed(secret, ID, AT, BODY), expected, "{secret}");
        }
    }

    #[test]
    fn base64_after_the_prefix_may_lack_padding_and_have_unused_bits() {
        let hex = |secret: &str| signed(secret, ID, AT, BODY).hex;
        for secret in
            ["whsec_c2VjcmV0MQ==", "whsec_c2VjcmV0MQ", "whsec_c2VjcmV0MQ=", "whsec_c2VjcmV0MR", "whsec_c2VjcmV0MX===="]
        {
            let signed = signed(secret, ID, AT, BODY);
            assert_eq!(signed.standard, "v1,C+CwFh5LCkFBJ/MohB61q7tDaghDhw98zB9vBxYka/o=", "{secret}");
            assert_eq!(secret == "whsec_c2VjcmV0MQ", signed.hex == hex("whsec_c2VjcmV0MQ"), "{secret}");
            assert!(!has_prefix_alone(&Secret::new(secret.to_owned()).expect("not empty")), "{secret}");
        }
    }

    #[test]
    fn a_prefix_without_base64_after_it_is_part_of_the_key() {
        for (secret, standard) in [
            ("whsec_no base64!", "v1,M8+33H4Dq36Lvrp6D0TgjU97xponkZ1GKF7/ZQobNx4="),
            ("whsec_", "v1,AUsemtRPIzthQtHnPgmHPUvj8jasw1M2BdSl+bqqaVQ="),
            ("whsec_==", "v1,dkanLCy0+16x8HLSDNfqZWxE9eXpLQXlCOmItg0DNhs="),
            ("whsec_-_abcdefgh1234", "v1,QOqjYStlZArvTV5XtBlmKlZaVt4ovu8ovtVf5v5+oQ8="),
            ("whsec_c2Vj cmV0", "v1,JEX45AXSGSJOCA+spUdheEl+3IVF2yDiFVB/tQekzQI="),
            ("whsec_c2Vj\ncmV0", "v1,RdTOjMZXUhYSxYR5T7A2ocoMKPkQG+nonsQ5QqDAA9M="),
            ("whsec_c2VjcmV0\n", "v1,m9DbPwr+56f2jQKZFPq5BJ0edAi+9zR1ZbphLZMVzKI="),
            ("whsec_c2Vj=cmV0", "v1,M57aBkhGVWGlGfPFx5qC2xHwUzecSXN7vhnWo1FbFlg="),
            ("whsec_abcde", "v1,lTPDiND3/kXB4l4qhGaveRwu6wTUwyKqU9Rx/1nRMRA="),
            ("whsec_c2VjcmV0é", "v1,shJavyn0ufiqW4SHif6R7csLPWAE/MBA/WgS+RpLOBI="),
        ] {
            assert_eq!(signed(secret, ID, AT, BODY).standard, standard, "{secret:?}");
            assert!(has_prefix_alone(&Secret::new(secret.to_owned()).expect("not empty")), "{secret:?}");
        }
        assert!(!has_prefix_alone(&Secret::new("c2VjcmV0 no prefix".to_owned()).expect("not empty")));
    }

    #[test]
    fn keys_longer_than_a_block_and_bodies_of_any_octets() {
        let long = signed(&"x".repeat(200), ID, AT, BODY);
        assert_eq!(long.hex, "29920293581e62271968a5cc0050ecff615edba77398a6a67232e549fc218f48");
        assert_eq!(long.standard, "v1,qdvE91NWaOvQ/vlvnJAwR/0Jq6yREZcK/5QRl1RZIOQ=");
        let empty = signed("s3cret", "e", 0, b"");
        assert_eq!(empty.hex, "91dfac70c5348b04e1babb8b421ac92cec08b565b49ca16130dccb72503647b7");
        assert_eq!(empty.standard, "v1,1jc2eRnGgc7gShZxjrCBbfp6GxggUca6SKBf10Ukadc=");
        let all: Vec<u8> = (0..=255).collect();
        let binary = signed("s3cret", "e", -1, &all);
        assert_eq!(binary.hex, "2927b7e2267900ec8649979beefebe91582ac610c176f959564f06183468cd02");
        assert_eq!(binary.standard, "v1,MXLhxB2HULHoswD+i30vcJgxB5QEsXRJMWNGdumvlvQ=");
    }
}
