//! The one table of what a client, its network and all clients together may have.

use std::time::Duration;

use crate::config::{Config, HttpConfig};
use crate::model::Share;

const MINUTE: Duration = Duration::from_mins(1);
/// What a message needs at most while it becomes JSON, as a multiple of its size: its octets, its text, and both bodies
/// as JSON. A text of quotation marks needs 16 times its size, since HTML has six octets for each.
pub const RENDERED: u64 = 18;
/// The least memory for answers, and what there is beside the largest message, in octets.
const ANSWERS_MIN: u64 = 128 << 20;
const ANSWERS_BESIDE: u64 = 32 << 20;
/// The most answers of a client that are prepared at once: those that wait for room, and those that are read.
/// With fewer, one connection after another would wait although the threads of the reader are idle.
const PREPARED_AT_ONCE: u64 = 8;
/// How long an answer waits for its turn and its room.
const ANSWER_PATIENCE: Duration = Duration::from_secs(10);
/// What a call holds at most besides its request: what is read of the answer, and the buffers of TLS and HTTP.
pub const ANSWER_OCTETS: u64 = 128 << 10;
/// What a slow call counts for at least. So all of them may hold some 100 MB, and there are few of large ones.
pub const SLOW_CALL_OCTETS: u64 = 416 << 10;
/// How many calls of webhooks are in flight at most: those of good ones, those of doubtful ones, and slow ones.
const GOOD_CALLS: u64 = 96;
const DOUBTFUL_CALLS: u64 = 32;
const SLOW_CALLS: u64 = 256;
/// All of these.
pub const CALLS_MAX: u64 = GOOD_CALLS + DOUBTFUL_CALLS + SLOW_CALLS;
/// How long a call waits for its turn.
const CALL_PATIENCE: Duration = MINUTE;
/// How many leases one client may have.
const LEASES: u64 = 100;
/// How many mailboxes one client may open in the time that they stay open.
const OPENED: u64 = 1_000;
/// How long a mailbox stays open.
pub const OPENED_FOR: Duration = Duration::from_hours(24);
/// How many shares of a client a network has.
const CLIENTS_OF_NETWORK: u64 = 4;

/// Something that clients get from a bounded store of it. Rates come last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// Connections of SMTP at once.
    SmtpConnection,
    /// Connections of HTTP at once, those that wait for mail included.
    HttpConnection,
    /// Requests that wait for mail at once.
    Waiting,
    /// Octets of messages that are being received.
    MailOctets,
    /// Octets of answers that are prepared or not written yet.
    AnswerOctets,
    /// Answers with mail that are prepared at once.
    Preparation,
    /// Questions to DNS, or checks of a sender, at once.
    DnsLookup,
    /// Calls at once of webhooks that deliver. A large one counts for several, at most for a client's share.
    GoodCall,
    /// Calls at once of webhooks that are new or fail, likewise.
    DoubtfulCall,
    /// Octets of calls that have become slow.
    SlowCall,
    /// Tests of webhooks at once.
    WebhookTest,
    /// Leases that have not ended, which the store counts.
    Leases,
    /// New connections of SMTP in a minute.
    NewSmtpConnections,
    /// Recipients of mail in a minute.
    Recipients,
    /// Recipients of mail in the time that mail is kept.
    KeptRecipients,
    /// Octets of mail in a minute.
    ReceivedOctets,
    /// Requests of HTTP in a minute.
    Requests,
    /// Registrations of domains in a minute.
    DomainRegistrations,
    /// Checks of DNS in a minute.
    DnsChecks,
    /// Checks of the senders of mail in a minute, for those who read it.
    SenderChecks,
    /// The same for the clients that sent it.
    ChecksOfSent,
    /// Registrations of webhooks in a minute.
    WebhookRegistrations,
    /// New leases in a minute.
    NewLeases,
    /// Changes and ends of leases in a minute.
    LeaseChanges,
    /// Mailboxes that are opened in a day.
    Opened,
    /// Wrong tokens in a minute.
    WrongTokens,
    /// Calls of webhooks in a minute to a host that took an event lately.
    CallsToProven,
    /// Octets of these calls in a minute.
    OctetsToProven,
    /// Calls of webhooks in a minute to any other host.
    CallsToUnproven,
    /// Octets of these calls in a minute, about.
    OctetsToUnproven,
}

/// What one row of the table says.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// How much one client, one network and all may have.
    pub(super) share: Share,
    pub(super) kind: Kind,
    /// Whether a client of `limit-exempt` has neither a client's share nor a network's.
    pub(super) is_exempted: bool,
    /// What of it does not make it crowded, and the most of that.
    pub(super) apart: Option<(What, u64)>,
}

/// How a row is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Places at once, and how long a request for one may wait.
    Places(Duration),
    /// Octets at once, and how long a request for some may wait. A client or network that holds none may take one message
    /// or answer, however large.
    Octets(Duration),
    /// So much in this time. All of it may come at once; then it comes back evenly.
    Rate(Duration),
}

impl Row {
    /// A network has four shares of a client and at most a quarter of all; a client has at most what its network has.
    fn held(kind: Kind, client: u64, all: u64) -> Self {
        let network = client.saturating_mul(CLIENTS_OF_NETWORK).min((all / 4).max(1));
        Self { share: Share { client: client.min(network), network, all }, kind, is_exempted: true, apart: None }
    }

    fn places(client: usize, all: usize) -> Self {
        Self::held(Kind::Places(Duration::ZERO), client as u64, all as u64)
    }

    fn in_time(client: u64, time: Duration) -> Self {
        let client = client.max(1);
        let share = Share { client, network: client.saturating_mul(CLIENTS_OF_NETWORK), all: u64::MAX };
        Self { share, kind: Kind::Rate(time), is_exempted: true, apart: None }
    }

    fn a_minute(client: u64) -> Self {
        Self::in_time(client, MINUTE)
    }

    /// At most so much in any minute, the first one too: a sixth of it at once, and a sixth in each twelve seconds.
    fn in_any_minute(client: u64) -> Self {
        Self::in_time(client / 6, MINUTE / 5)
    }

    /// The row without a network's share.
    const fn without_network(self) -> Self {
        Self { share: Share { network: u64::MAX, ..self.share }, ..self }
    }

    /// The row for everybody, clients of `limit-exempt` too.
    const fn for_everybody(self) -> Self {
        Self { is_exempted: false, ..self }
    }
}

impl What {
    /// Everything, each at the index of its number.
    pub(super) const ALL: [Self; 30] = [
        Self::SmtpConnection,
        Self::HttpConnection,
        Self::Waiting,
        Self::MailOctets,
        Self::AnswerOctets,
        Self::Preparation,
        Self::DnsLookup,
        Self::GoodCall,
        Self::DoubtfulCall,
        Self::SlowCall,
        Self::WebhookTest,
        Self::Leases,
        Self::NewSmtpConnections,
        Self::Recipients,
        Self::KeptRecipients,
        Self::ReceivedOctets,
        Self::Requests,
        Self::DomainRegistrations,
        Self::DnsChecks,
        Self::SenderChecks,
        Self::ChecksOfSent,
        Self::WebhookRegistrations,
        Self::NewLeases,
        Self::LeaseChanges,
        Self::Opened,
        Self::WrongTokens,
        Self::CallsToProven,
        Self::OctetsToProven,
        Self::CallsToUnproven,
        Self::OctetsToUnproven,
    ];

    /// Whether it comes back with time, instead of being given back.
    pub(super) const fn is_rate(self) -> bool {
        self as usize >= Self::NewSmtpConnections as usize
    }

    /// Its row; `None` if the settings switch it off.
    pub(super) fn row(self, config: &Config) -> Option<Row> {
        let Config { smtp, http, mail, leases, webhooks, .. } = config;
        Some(match self {
            Self::SmtpConnection => Row::places(smtp.connections_per_client_max, smtp.connections_max),
            Self::HttpConnection => Row {
                apart: Some((Self::Waiting, waiting_max(http) as u64)),
                ..Row::places(http.connections_per_client_max, http.connections_max)
            },
            Self::Waiting => Row::places(http.waiting_per_client_max, waiting_max(http)),
            Self::MailOctets => {
                Row::held(Kind::Octets(Duration::ZERO), smtp.bodies_octets_max / 4, smtp.bodies_octets_max)
            }
            Self::AnswerOctets => {
                let largest = mail.message_octets_max.saturating_mul(RENDERED);
                let all = largest.saturating_add(ANSWERS_BESIDE).max(ANSWERS_MIN);
                Row::held(Kind::Octets(ANSWER_PATIENCE), all / 4, all)
            }
            Self::Preparation => {
                let all = http.connections_max as u64;
                Row::held(Kind::Places(ANSWER_PATIENCE), PREPARED_AT_ONCE, all).for_everybody()
            }
            Self::DnsLookup => Row::held(Kind::Places(Duration::from_secs(5)), 4, 64).for_everybody(),
            Self::GoodCall => Row::held(Kind::Places(CALL_PATIENCE), GOOD_CALLS, GOOD_CALLS).for_everybody(),
            Self::DoubtfulCall => {
                Row::held(Kind::Places(CALL_PATIENCE), DOUBTFUL_CALLS, DOUBTFUL_CALLS).for_everybody()
            }
            Self::SlowCall => {
                let client = SLOW_CALLS / 16 * SLOW_CALL_OCTETS;
                Row::held(Kind::Octets(CALL_PATIENCE), client, SLOW_CALLS * SLOW_CALL_OCTETS).for_everybody()
            }
            Self::WebhookTest => Row::places(4, 4),
            Self::Leases => Row::held(Kind::Places(Duration::ZERO), LEASES, leases.all_max),
            Self::NewSmtpConnections => Row::a_minute(smtp.connections_per_minute_max as u64),
            Self::Recipients => Row::a_minute(6_000),
            Self::KeptRecipients => {
                let row = Row::in_time(mail.emails_max / 8, mail.retention);
                Row { share: Share { network: row.share.client * 2, ..row.share }, ..row }
            }
            Self::ReceivedOctets => Row::a_minute(256_000_000),
            Self::Requests => Row::a_minute(http.rate_limit?.into()).for_everybody(),
            Self::DomainRegistrations | Self::NewLeases | Self::WrongTokens => Row::a_minute(30).for_everybody(),
            // A client may prolong or end all that it has at once.
            Self::LeaseChanges => Row::a_minute(LEASES + LEASES / 5).for_everybody(),
            Self::Opened => Row::in_time(OPENED, OPENED_FOR),
            Self::DnsChecks | Self::SenderChecks => Row::a_minute(60).for_everybody(),
            // No single reader can use them up.
            Self::ChecksOfSent => Row::a_minute(120),
            Self::WebhookRegistrations => Row::a_minute(webhooks.registrations_per_minute.into()).for_everybody(),
            Self::CallsToProven => {
                Row::a_minute(webhooks.per_address_per_minute as u64).for_everybody().without_network()
            }
            Self::OctetsToProven => Row::a_minute(256_000_000).for_everybody().without_network(),
            Self::CallsToUnproven => Row::in_any_minute(120).for_everybody(),
            // With the call that goes beyond it, these are 8 MB.
            Self::OctetsToUnproven => Row::in_any_minute(7_000_000).for_everybody(),
        })
    }
}

/// How many connections of HTTP may wait for mail. The others always have a quarter of the places.
fn waiting_max(http: &HttpConfig) -> usize {
    http.waiting_max.min(http.connections_max - http.connections_max.div_ceil(4)).max(1)
}
