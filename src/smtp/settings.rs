//! The settings of the receiver, and the constants that no administrator needs to change.

use std::net::IpAddr;
use std::time::Duration;

use ipnet::IpNet;

use super::deadlines::{MinRate, Timeouts};
use super::policy::PolicySettings;
use crate::config::{Config, SMTP_RECIPIENTS_MAX, SmtpAuth};
use crate::connections::ClientLimits;
use crate::model::{DomainName, Subaddressing};

/// The settings of the receiver.
#[derive(Clone, Debug)]
pub struct SmtpSettings {
    /// The name in the greeting, and the domain of `<postmaster>`.
    pub hostname: DomainName,
    /// AUTH is offered on SMTP and SMTPS and accepts any credentials.
    pub accepts_any_auth: bool,
    /// Networks whose connections must begin with a PROXY header, except those for LMTP. No other client may send one.
    pub proxy_from: Vec<IpNet>,
    /// What the administrator refuses.
    pub policy: PolicySettings,
    /// The meaning of `+tag` in an address.
    pub subaddressing: Subaddressing,
    /// How long a stored Email is readable.
    pub retention: Duration,

    /// The most connections at once, over all listeners.
    pub connections_max: usize,
    /// The most connections at once of one client.
    pub connections_per_client_max: usize,
    /// The most new connections of one client in a minute.
    pub connections_per_minute_max: usize,
    /// The most octets of memory for all incoming messages; at least `message_octets_max`.
    pub bodies_octets_max: u64,
    /// The most octets of memory for the incoming messages of one client; at least `message_octets_max`.
    pub bodies_octets_per_client_max: u64,
    /// Networks whose clients are exempt from the limits of one client.
    pub exempt: Vec<IpNet>,
    /// The number of 5yz replies without a stored message between them that ends a session.
    pub errors_max: u32,

    /// The largest message in octets, as RFC 1870 counts them.
    pub message_octets_max: u64,
    /// The longest line of a message after DATA in octets, CRLF included; RFC 5321 section 4.5.3.1.6 asks for 1,000.
    pub text_line_octets_max: u64,
    /// The most recipients of one message; RFC 5321 section 4.5.3.1.8 asks for 100.
    pub recipients_max: usize,
    /// The most Received fields of a message; RFC 5321 section 6.3 asks for 100.
    pub hops_max: usize,

    /// How long a client may be silent, take for a whole command line, or take to read the replies.
    pub client_timeout: Duration,
    /// How long a transaction may take; longer if its message keeps `octets_per_second_min`.
    pub message_timeout: Duration,
    /// The rate at which a message may take longer than `message_timeout`.
    pub octets_per_second_min: u64,
    /// The age at which a session ends between two transactions.
    pub session_timeout: Duration,
    /// Replaces the other timeouts while more than three quarters of the connections are taken.
    pub stress_timeout: Duration,
    /// How long a TLS handshake may take.
    pub handshake_timeout: Duration,
    /// How long a PROXY header may take; a proxy sends it at once.
    pub proxy_timeout: Duration,
    /// How long sessions may take to end once the service stops. The daemon has 10 s for all of its stop.
    pub drain_timeout: Duration,
}

impl SmtpSettings {
    /// The settings that follow from the daemon's.
    pub fn from_config(config: &Config) -> Self {
        let constants = &config.constants;
        Self {
            hostname: config.smtp.hostname.clone(),
            accepts_any_auth: config.smtp.auth == SmtpAuth::AcceptAny,
            proxy_from: config.smtp.proxy_from.clone(),
            policy: PolicySettings::from_config(config),
            subaddressing: config.mail.subaddressing,
            retention: config.mail.retention,
            connections_max: config.smtp.connections_max,
            connections_per_client_max: config.smtp.connections_per_client_max,
            connections_per_minute_max: config.smtp.connections_per_minute_max,
            bodies_octets_max: config.smtp.bodies_octets_max,
            bodies_octets_per_client_max: (config.smtp.bodies_octets_max / 4).max(config.mail.message_octets_max),
            exempt: config.smtp.exempt.clone(),
            errors_max: constants.smtp_errors_max,
            message_octets_max: config.mail.message_octets_max,
            text_line_octets_max: config.smtp.text_line_octets_max,
            recipients_max: SMTP_RECIPIENTS_MAX,
            hops_max: 100,
            client_timeout: config.smtp.timeout,
            message_timeout: Duration::from_mins(10),
            octets_per_second_min: constants.smtp_octets_per_second_min,
            session_timeout: constants.smtp_session_timeout,
            stress_timeout: constants.smtp_stress_timeout.min(config.smtp.timeout),
            handshake_timeout: config.tls.handshake_timeout,
            proxy_timeout: constants.proxy_timeout,
            drain_timeout: constants.drain_timeout,
        }
    }

    /// Whether a PROXY header must come first from `peer`.
    pub(super) fn is_proxy(&self, peer: IpAddr) -> bool {
        self.proxy_from.iter().any(|network| network.contains(&peer))
    }

    pub(super) fn client_limits(&self) -> ClientLimits {
        ClientLimits {
            connections_max: self.connections_per_client_max,
            per_minute_max: self.connections_per_minute_max,
            exempt: self.exempt.clone(),
        }
    }

    pub(super) fn timeouts(&self) -> Timeouts {
        Timeouts {
            client: self.client_timeout,
            message: self.message_timeout,
            rate: MinRate {
                octets_per_second: self.octets_per_second_min,
                // A message of doubled dots has twice the octets on the wire.
                octets_max: self.message_octets_max.saturating_mul(2),
            },
            session: self.session_timeout,
            stress: self.stress_timeout,
        }
    }
}
