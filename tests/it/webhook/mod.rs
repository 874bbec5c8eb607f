//! Webhooks against a real receiver.

mod attacks;
mod attempt;
mod clock_steps;
mod dispatch;
mod ends;
mod guard;
mod in_memory;
mod isolation;
mod killed;
mod not_sent;
mod observed;
mod retry_after;
mod running;
mod settings;
mod signature_examples;
mod tester;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tempmail::clock::SystemClock;
use tempmail::dns::{DnsResolver, ResolverSettings};
use tempmail::model::{EmailId, Timestamp};
use tempmail::webhook::{
    Caller, CallerSettings, Event, EventEmail, EventRequest, Guard, GuardSettings, Outcome, Signer, Target,
};
use uuid::Uuid;

use crate::support::dns_zone::DnsZone;

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const EVENT: Uuid = Uuid::from_u128(0x0190_b6a5_7c3e_7d2f_8a4b_1c5d_9e0f_2a3b);
const NOW: Timestamp = Timestamp::from_millis(1_700_000_360_000);

/// Timeouts that are long enough for a loaded machine.
const PATIENT: CallerSettings = CallerSettings {
    connect_timeout: Duration::from_secs(30),
    timeout: Duration::from_secs(30),
    per_address_per_minute: 6_000,
    // Otherwise each receiver would be on probation.
    has_probation: false,
};

/// A caller with a DNS zone of its own.
struct Setup {
    zone: DnsZone,
    caller: Caller,
}

impl Setup {
    /// Only `allow` and public addresses may be called; `own` are our listeners.
    async fn new(allow: &[&str], own: &[SocketAddr], settings: CallerSettings) -> Self {
        let zone = DnsZone::start().await;
        let allow = allow.iter().map(|text| text.parse().expect(text)).collect();
        let guard = Guard::new(GuardSettings { allow, own: own.to_vec(), refused_ports: Vec::new() });
        let resolver = Arc::new(DnsResolver::new(ResolverSettings::new(vec![zone.addr()])));
        let caller = Caller::new(settings, Arc::new(guard), resolver, Arc::new(SystemClock)).expect("a client");
        Self { zone, caller }
    }

    /// Loopback may be called.
    async fn local() -> Self {
        Self::new(&["127.0.0.0/8"], &[], PATIENT).await
    }

    /// Loopback may be called; an attempt may take 300 ms.
    async fn impatient() -> Self {
        let settings = CallerSettings { timeout: Duration::from_millis(300), ..PATIENT };
        Self::new(&["127.0.0.0/8"], &[], settings).await
    }

    async fn call(&self, url: &str) -> Outcome {
        self.caller.call(request_to(url)).await.expect("a turn")
    }
}

/// A signed request to `url`.
fn request_to(url: &str) -> EventRequest {
    request_with(url, Some(SECRET), NOW)
}

/// A request to `url` at `now`, signed if there is a secret.
fn request_with(url: &str, secret: Option<&str>, now: Timestamp) -> EventRequest {
    let target = Target::parse(url).expect(url).into();
    let email = EventEmail {
        id: EmailId::from_parts(Timestamp::from_millis(1_700_000_000_123), [7; 10]),
        recipient: "ann@example.test",
        from: "bob@example.com",
        subject: "Grüße",
        message: "<p>1</p>",
        body_text: "1\r\n",
        received_at: Timestamp::from_millis(1_700_000_000_123),
    };
    let signer = secret.map(|secret| Signer::new(secret.as_bytes()));
    Event { id: EVENT, target: &target, signer: signer.as_ref(), email }.request(now)
}
