//! Deliveries for tests of the store.

use std::net::IpAddr;
use std::time::Duration;

use bytes::Bytes;
use tempmail::model::{Address, Delivery, Envelope, Greeting, Mailbox, Protocol, Subaddressing, Timestamp};
use tempmail::random;

/// The mailbox that an address means.
pub fn mailbox(address: &str) -> Mailbox {
    address.parse::<Address>().expect(address).mailbox(Subaddressing::Keep)
}

/// A message for `recipients` with the content `raw`, received at `at` and readable for an hour.
pub fn delivery(recipients: &[&str], raw: impl Into<Bytes>, at: Timestamp) -> Delivery {
    Delivery {
        envelope: Envelope::new(
            IpAddr::from([192, 0, 2, 1]),
            "client.example".into(),
            Protocol::plain(Greeting::Ehlo),
            "sender@example.com".into(),
            recipients.iter().map(|text| (text.parse::<Address>().expect(text).to_string(), mailbox(text))),
            || random::email_id(at),
        ),
        raw: raw.into(),
        received_at: at,
        expires_at: at.plus(Duration::from_hours(1)),
    }
}
