use std::time::{SystemTime, UNIX_EPOCH};

use axum::http::HeaderMap;
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

pub fn verify(secret: &str, headers: &HeaderMap, body: &[u8]) -> bool {
    let header = |name| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let (id, at, hex) = (header("webhook-id"), header("webhook-timestamp"), header("x-webhook-signature"));
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    if !at.parse::<u64>().is_ok_and(|at| now.abs_diff(at) <= 300) {
        return false;
    }
    let key = match secret.strip_prefix("whsec_") {
        Some(rest) => STANDARD_NO_PAD.decode(rest.trim_end_matches('=')).unwrap_or_default(),
        None => secret.as_bytes().to_vec(),
    };
    let signed = [format!("{id}.{at}.").as_bytes(), body].concat();
    let octets = (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(hex.get(i..i + 2)?, 16).ok());
    let octets = octets.collect::<Option<Vec<u8>>>().unwrap_or_default();
    let standard =
        header("webhook-signature").split(' ').filter_map(|one| STANDARD.decode(one.strip_prefix("v1,")?).ok());
    is_hmac(secret.as_bytes(), body, &octets)
        && !key.is_empty()
        && standard.into_iter().any(|given| is_hmac(&key, &signed, &given))
}

/// Compares in constant time.
fn is_hmac(key: &[u8], message: &[u8], given: &[u8]) -> bool {
    let mac = Hmac::<Sha256>::new_from_slice(key).expect("a key of any length");
    mac.chain_update(message).verify_slice(given).is_ok()
}
