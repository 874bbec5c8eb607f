//! `GET /api/mail/messages/{id}/raw`: the octets as received, after the trace fields of a receiver.

use std::convert::Infallible;
use std::net::IpAddr;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use futures_util::stream;

use super::message;
use crate::http::{Api, Caller, Problem};
use crate::model::{DomainName, StoredEmail, TlsSession};

/// Answers with the message.
pub(in crate::http) async fn show(
    State(api): State<Arc<Api>>,
    caller: Caller,
    path: Result<Path<String>, PathRejection>,
) -> Result<Response, Problem> {
    let id = message::id(path)?;
    let (email, room) = api.email(&caller, id).await?;
    let trace = Bytes::from(trace(&email, &api.config.smtp.hostname));
    let message = room.hold_shared(email.raw);
    let fields = [
        (header::CONTENT_TYPE, HeaderValue::from_static("message/rfc822")),
        (header::CONTENT_LENGTH, HeaderValue::from(trace.len() + message.len())),
    ];
    let pieces = stream::iter([trace, message].map(Ok::<_, Infallible>));
    Ok((fields, Body::from_stream(pieces)).into_response())
}

/// The fields Return-Path and Received (RFC 5321 section 4.4), from the envelope.
///
/// The clause `for` needs a single recipient, since one of several could be a Bcc. There is no clause `id`, since the
/// id lets a reader open the Email.
pub(in crate::http) fn trace(email: &StoredEmail, hostname: &DomainName) -> String {
    let envelope = &email.envelope;
    let client = match envelope.client.to_canonical() {
        IpAddr::V4(address) => format!("[{address}]"),
        IpAddr::V6(address) => format!("[IPv6:{address}]"),
    };
    let recipient = match envelope.recipients.as_slice() {
        [only] => format!("\r\n\tfor <{}>", harmless(&only.address)),
        _ => String::new(),
    };
    let tls = envelope.protocol.tls.as_deref().map_or(String::new(), |TlsSession { version, cipher }| {
        format!("\r\n\t({} with cipher {})", word(version), word(cipher))
    });
    format!(
        "Return-Path: <{}>\r\nReceived: from {} ({client})\r\n\tby {hostname} with {}{tls}{recipient};\r\n\t{}\r\n",
        harmless(&envelope.reverse_path),
        word(&envelope.helo),
        envelope.protocol,
        email.listed.received_at.to_rfc5322(),
    )
}

/// A text that is safe in the field Received, or `unknown`. Safe characters are those of names and address literals
/// (RFC 5321 section 4.4).
fn word(helo: &str) -> &str {
    let is_word = !helo.is_empty() && helo.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.:[]".contains(&b));
    if is_word { helo } else { "unknown" }
}

/// The text without control characters, which could end its line.
fn harmless(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Address, Envelope, Greeting, Listed, Place, Protocol, Subaddressing, Timestamp};
    use crate::random;

    fn email(client: &str, helo: &str, reverse_path: &str, recipients: &[&str]) -> StoredEmail {
        let at = Timestamp::from_millis(1_700_000_000_000);
        let addresses: Vec<Address> = recipients.iter().map(|text| text.parse().expect("address")).collect();
        let envelope = Envelope::new(
            client.parse().expect("address"),
            helo.to_owned(),
            Protocol::plain(Greeting::Ehlo),
            reverse_path.to_owned(),
            addresses.iter().map(|address| (address.to_string(), address.mailbox(Subaddressing::Keep))),
            || random::email_id(at),
        );
        let id = envelope.recipients.first().map_or(random::email_id(at), |recipient| recipient.id);
        let listed = Listed { id, sequence: 1, received_at: at, expires_at: at, size_octets: 0, place: Place([0; 16]) };
        StoredEmail { listed, envelope, raw: Bytes::new() }
    }

    fn trace_of(email: &StoredEmail) -> String {
        trace(email, &"mx.example.test".parse().expect("name"))
    }

    #[test]
    fn the_trace_says_what_the_envelope_says() {
        assert_eq!(
            trace_of(&email("192.0.2.1", "client.test", "ann@example.test", &["Bob@example.test"])),
            "Return-Path: <ann@example.test>\r\n\
             Received: from client.test ([192.0.2.1])\r\n\
             \tby mx.example.test with ESMTP\r\n\
             \tfor <Bob@example.test>;\r\n\
             \tTue, 14 Nov 2023 22:13:20 +0000\r\n"
        );
    }

    #[test]
    fn what_secured_the_connection_is_in_the_header() {
        let mut email = email("192.0.2.1", "client.test", "", &["Bob@example.test"]);
        let tls = TlsSession { version: "TLSv1.3".into(), cipher: "TLS_AES_256_GCM_SHA384".into() };
        email.envelope.protocol =
            Protocol { is_utf8: true, tls: Some(Box::new(tls)), ..Protocol::plain(Greeting::Ehlo) };
        let trace = trace_of(&email);
        assert!(
            trace.contains(
                "\r\n\tby mx.example.test with UTF8SMTPS\r\n\t(TLSv1.3 with cipher TLS_AES_256_GCM_SHA384)\r\n\tfor <"
            ),
            "{trace}"
        );
    }

    #[test]
    fn several_recipients_are_not_named() {
        let trace = trace_of(&email("2001:db8::1", "c", "", &["a@example.test", "b@example.test"]));
        assert!(trace.starts_with("Return-Path: <>\r\nReceived: from c ([IPv6:2001:db8::1])\r\n"), "{trace}");
        assert!(!trace.contains("for <"), "{trace}");
    }

    #[test]
    fn a_client_is_named_only_by_what_is_a_name() {
        for (helo, shown) in [
            ("my_host.example.test", "my_host.example.test"),
            ("[192.0.2.1]", "[192.0.2.1]"),
            ("[IPv6:2001:db8::1]", "[IPv6:2001:db8::1]"),
            ("a,b@c", "unknown"),
            ("x(y)z", "unknown"),
            ("a;b", "unknown"),
            ("", "unknown"),
        ] {
            assert_eq!(word(helo), shown, "{helo}");
        }
    }

    #[test]
    fn nothing_in_the_envelope_makes_a_line() {
        let trace = trace_of(&email("192.0.2.1", "x\r\nEvil: 1", "a\r\nEvil: 2@x.test", &["a@example.test"]));
        assert!(trace.contains("from unknown ("), "{trace}");
        assert_eq!(trace.matches("\r\n").count(), 5, "{trace}");
        assert!(!trace.contains("\r\nEvil"), "{trace}");
    }
}
