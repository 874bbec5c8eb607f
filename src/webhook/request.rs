//! The request for an event: its body, and the headers of one attempt.
//!
//! Pure. The body depends on the event alone, so every attempt sends the same octets. The time of the attempt is in the
//! headers.

use std::sync::Arc;

use bytes::Bytes;
use hyper::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, USER_AGENT};
use serde::Serialize;
use uuid::Uuid;

use super::sign::{Signatures, sign};
use super::target::Target;
use crate::email;
use crate::mime::Message;
use crate::model::{EmailId, Secret, StoredEmail, Timestamp};

/// The product identifier; the interface fixes its version.
const PRODUCT: HeaderValue = HeaderValue::from_static("tempmail/1.0");
const X_WEBHOOK_SIGNATURE: HeaderName = HeaderName::from_static("x-webhook-signature");
const WEBHOOK_ID: HeaderName = HeaderName::from_static("webhook-id");
const WEBHOOK_TIMESTAMP: HeaderName = HeaderName::from_static("webhook-timestamp");
const WEBHOOK_SIGNATURE: HeaderName = HeaderName::from_static("webhook-signature");

/// The Email of an event, as it stands in the body.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EventEmail<'a> {
    /// Its id.
    pub id: EmailId,
    /// The envelope recipient.
    pub recipient: &'a str,
    /// The address in the From header, or else the envelope sender.
    pub from: &'a str,
    /// The subject.
    pub subject: &'a str,
    /// The body as HTML.
    pub message: &'a str,
    /// The body as plain text.
    pub body_text: &'a str,
    /// When it was received. The body has this time in the interface's own form, and again as `timestamp` in RFC 3339.
    #[serde(serialize_with = "in_interface_form")]
    pub received_at: Timestamp,
}

impl<'a> EventEmail<'a> {
    /// The Email and the content of its message. `None` if the Email is not in the envelope, which means a damaged store.
    pub fn of(email: &'a StoredEmail, message: &'a Message<'_>) -> Option<Self> {
        Some(Self {
            id: email.listed.id,
            recipient: &email.recipient()?.address,
            from: email::sender(email, message),
            subject: message.subject(),
            message: message.html(),
            body_text: message.text(),
            received_at: email.listed.received_at,
        })
    }
}

/// An event for one webhook.
#[derive(Clone, Copy)]
pub struct Event<'a> {
    /// The event's id, the same in every attempt and replay. A receiver recognizes duplicates by it.
    pub id: Uuid,
    /// Where to send it.
    pub target: &'a Arc<Target>,
    /// Signs the event; without it the request has no signature.
    pub secret: Option<&'a Secret>,
    /// The Email that was received.
    pub email: EventEmail<'a>,
}

/// The request of one attempt to send an event.
///
/// `Debug` shows neither path, signatures nor body.
#[derive(Clone)]
pub struct EventRequest {
    /// Where to send it.
    pub target: Arc<Target>,
    /// Every header except Host, Connection and Content-Length.
    pub headers: HeaderMap,
    /// The body, octet for octet as it is signed.
    pub body: Bytes,
}

impl std::fmt::Debug for EventRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EventRequest").field("target", &self.target).finish_non_exhaustive()
    }
}

/// The body of the event `email.received`.
#[derive(Serialize)]
struct Payload<'a> {
    event: &'static str,
    email: &'a EventEmail<'a>,
    timestamp: String,
}

impl Event<'_> {
    /// The request for an attempt that starts at `now`.
    pub fn request(&self, now: Timestamp) -> EventRequest {
        let body = render(&self.email);
        let mut id_text = Uuid::encode_buffer();
        let id: &str = self.id.hyphenated().encode_lower(&mut id_text);
        let at_seconds = now.millis().div_euclid(1000);
        // Room for those of the connection as well.
        let mut headers = HeaderMap::with_capacity(8);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(USER_AGENT, PRODUCT);
        headers.insert(WEBHOOK_ID, value(id.to_owned()));
        headers.insert(WEBHOOK_TIMESTAMP, HeaderValue::from(at_seconds));
        if let Some(secret) = self.secret {
            let Signatures { hex, standard } = sign(secret, id, at_seconds, &body);
            headers.insert(X_WEBHOOK_SIGNATURE, value(hex));
            headers.insert(WEBHOOK_SIGNATURE, value(standard));
        }
        EventRequest { target: Arc::clone(self.target), headers, body: body.into() }
    }
}

/// The body of an event.
fn render(email: &EventEmail<'_>) -> Vec<u8> {
    let body = Payload { event: "email.received", email, timestamp: email.received_at.to_rfc3339() };
    serde_json::to_vec(&body).expect("strings and numbers are always JSON")
}

/// A header value of visible ASCII.
fn value(text: String) -> HeaderValue {
    HeaderValue::try_from(text).expect("UUIDs, hexadecimal and base64 are visible ASCII")
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn in_interface_form<S: serde::Serializer>(at: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&at.to_interface())
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECEIVED: Timestamp = Timestamp::from_millis(1_700_000_000_999);
    const NOW: Timestamp = Timestamp::from_millis(1_700_000_360_001);
    const BODY: &str = concat!(
        r#"{"event":"email.received","email":{"id":"018bcfe5-687b-7000-8000-000000000000","recipient":"Ann@example.test","#,
        r#""from":"bob@example.com","subject":"Grüße \"1\"","message":"<p>1</p>","bodyText":"1\n","#,
        r#""receivedAt":"2023-11-14 22:13:20"},"timestamp":"2023-11-14T22:13:20Z"}"#
    );

    fn request(secret: Option<&str>, now: Timestamp) -> EventRequest {
        let target = Target::parse("https://hooks.example/s3cret").expect("url").into();
        let email = EventEmail {
            id: EmailId::from_parts(Timestamp::from_millis(1_700_000_000_123), [0; 10]),
            recipient: "Ann@example.test",
            from: "bob@example.com",
            subject: "Grüße \"1\"",
            message: "<p>1</p>",
            body_text: "1\n",
            received_at: RECEIVED,
        };
        let secret = secret.and_then(|secret| Secret::new(secret.to_owned()));
        Event { id: Uuid::from_u128(7), target: &target, secret: secret.as_ref(), email }.request(now)
    }

    fn headers(request: &EventRequest) -> Vec<(&str, &str)> {
        request.headers.iter().map(|(name, value)| (name.as_str(), value.to_str().expect("ASCII"))).collect()
    }

    #[test]
    fn the_body_has_the_form_of_the_interface_and_is_the_same_in_every_attempt() {
        assert_eq!(request(None, NOW).body, BODY);
        assert_eq!(request(Some("k"), RECEIVED).body, BODY);
    }

    #[test]
    fn without_a_secret_there_is_no_signature() {
        assert_eq!(
            headers(&request(None, NOW)),
            [
                ("content-type", "application/json"),
                ("user-agent", "tempmail/1.0"),
                ("webhook-id", "00000000-0000-0000-0000-000000000007"),
                ("webhook-timestamp", "1700000360"),
            ]
        );
    }

    #[test]
    fn with_a_secret_both_signatures_cover_the_body_that_is_sent() {
        let request = request(Some("s3cret"), NOW);
        let secret = Secret::new("s3cret".to_owned()).expect("not empty");
        let signed = sign(&secret, "00000000-0000-0000-0000-000000000007", 1_700_000_360, BODY.as_bytes());
        assert_eq!(request.headers["x-webhook-signature"], signed.hex.as_str());
        assert_eq!(request.headers["webhook-signature"], signed.standard.as_str());
        assert_eq!(request.headers.len(), 6);
    }

    #[test]
    fn debug_shows_neither_path_nor_signature_nor_body() {
        let shown = format!("{:?}", request(Some("s3cret"), NOW));
        assert_eq!(shown, "EventRequest { target: Target(https://hooks.example), .. }");
    }
}
