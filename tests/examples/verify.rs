use std::time::{SystemTime, UNIX_EPOCH};

use axum::http::HeaderMap;
use base64::engine::general_purpose::{GeneralPurpose, NO_PAD, STANDARD};
use base64::{Engine, alphabet};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

const OF_SECRETS: GeneralPurpose =
    GeneralPurpose::new(&alphabet::STANDARD, NO_PAD.with_decode_allow_trailing_bits(true));

pub fn verify(secret: &str, headers: &HeaderMap, body: &[u8]) -> bool {
    let header = |name| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let (id, at, hex) = (header("webhook-id"), header("webhook-timestamp"), header("x-webhook-signature"));
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    if secret.is_empty() || !at.parse::<u64>().is_ok_and(|at| now.abs_diff(at) <= 300) {
        return false;
    }
    let key = match secret.strip_prefix("whsec_").map(|rest| OF_SECRETS.decode(rest.trim_end_matches('='))) {
        Some(Ok(key)) if !key.is_empty() => key,
        _ => secret.as_bytes().to_vec(),
    };
    let signed = [format!("{id}.{at}.").as_bytes(), body].concat();
    let octets = (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(hex.get(i..i + 2)?, 16).ok());
    let octets = octets.collect::<Option<Vec<u8>>>().unwrap_or_default();
    let standard =
        header("webhook-signature").split(' ').filter_map(|one| STANDARD.decode(one.strip_prefix("v1,")?).ok());
    is_hmac(secret.as_bytes(), body, &octets) && standard.into_iter().any(|given| is_hmac(&key, &signed, &given))
}

/// Compares in constant time.
fn is_hmac(key: &[u8], message: &[u8], given: &[u8]) -> bool {
    let mac = Hmac::<Sha256>::new_from_slice(key).expect("a key of any length");
    mac.chain_update(message).verify_slice(given).is_ok()
}
