//! What an event says, rendered and signed: neither says anything about the webhook that is told, but by whose secret it is
//! signed.

use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use hyper::header::HeaderValue;

use super::attempt::value;
use super::sign::Signer;

/// The raw body of an event. All that hold it share it.
#[derive(Clone, Debug)]
pub(super) struct Body(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    octets: Bytes,
    /// What whoever came first signed it with, and the value of `X-Webhook-Signature` by that. Webhooks of one mailbox often
    /// have one secret: a signature costs as much as a third of all else that an event costs here.
    signed: OnceLock<(Signer, HeaderValue)>,
}

impl Body {
    pub(super) fn octets(&self) -> &Bytes {
        &self.0.octets
    }

    pub(super) fn len(&self) -> usize {
        self.0.octets.len()
    }

    /// The value of `X-Webhook-Signature`.
    pub(super) fn signature(&self, signer: &Signer) -> HeaderValue {
        let sign = || value(signer.of_body(&self.0.octets));
        let (first, signature) = self.0.signed.get_or_init(|| (signer.clone(), sign()));
        if first == signer { signature.clone() } else { sign() }
    }
}

impl From<Vec<u8>> for Body {
    fn from(octets: Vec<u8>) -> Self {
        Self(Arc::new(Shared { octets: octets.into(), signed: OnceLock::new() }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_secret_has_its_own_signature_whoever_came_first() {
        let body = Body::from(b"{}".to_vec());
        for secret in [b"one", b"two", b"one", b"two"] {
            let signer = Signer::new(secret);
            assert_eq!(body.signature(&signer), signer.of_body(b"{}").as_str(), "{secret:?}");
        }
    }

    #[test]
    fn what_was_signed_with_a_secret_is_not_signed_with_it_again() {
        let body = Body::from(b"{}".to_vec());
        let [first, second] = [0, 1].map(|_| body.signature(&Signer::new(b"one")));
        assert_eq!(first.as_bytes().as_ptr(), second.as_bytes().as_ptr());
    }
}
